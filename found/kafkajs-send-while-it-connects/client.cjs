// A connection is lost while a record is sent. While the client connects again, another record is to be sent.

const net = require('node:net')
const { Kafka, logLevel } = require('kafkajs')

const PRODUCE = 0
let lost = false

function socketFactory({ host, port, onConnect }) {
  const socket = net.connect({ host, port }, () => {
    onConnect()
    if (lost) setImmediate(send, 'second')
  })
  const write = socket.write.bind(socket)
  socket.write = (request, ...rest) => {
    if (lost || request.readInt16BE(4) !== PRODUCE) return write(request, ...rest)
    lost = true
    return socket.push(null) // as if the broker had closed the connection
  }
  return socket
}

const brokers = process.env.BOOTSTRAP_SERVERS.split(',')
const producer = new Kafka({ brokers, socketFactory, logLevel: logLevel.NOTHING }).producer()

async function send(value) {
  const told = await producer.send({ topic: 'orders', messages: [{ value }] }).catch((error) => error)
  console.log(`${value}: ${told instanceof Error ? told.message : 'written'}`)
}

async function main() {
  await producer.connect()
  await send('first')
  await producer.disconnect()
}

main()
