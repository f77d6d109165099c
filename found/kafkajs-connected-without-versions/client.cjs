// The process is busy for longer than `requestTimeout`, just when the client has connected.

const net = require('node:net')
const { Kafka, logLevel } = require('kafkajs')

// The first ApiVersions has just been sent.
let busy = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)

function socketFactory({ host, port, onConnect }) {
  return net.connect({ host, port }, () => {
    onConnect()
    setImmediate(busy)
    busy = () => {}
  })
}

const settings = { brokers: process.env.BOOTSTRAP_SERVERS.split(','), requestTimeout: 1000, retry: { retries: 1 } }
const producer = new Kafka({ ...settings, socketFactory, logLevel: logLevel.NOTHING }).producer()

async function write(value) {
  try {
    await producer.send({ topic: 'orders', messages: [{ value }] })
    console.log(`${value}: written`)
  } catch (error) {
    console.log(`${value}: ${error.message}`)
  }
}

async function main() {
  await producer.connect()
  console.log('connected')
  for (let second = 1; second <= 5; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await write(`after ${second} s`)
  }
  await producer.disconnect()
}

main()
