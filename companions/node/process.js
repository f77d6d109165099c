// The one process that lends clusters to all tests of this one. It ends when its stdin closes, which happens
// when this process ends in any way.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { MockBrokerError } from './requests.js'

/** The version of docs/process.md that this package follows. */
const CONTRACT = 1
const OPTIONS = ['--brokers', '1', '--log', 'json', '--port', '0', '--control', '0', '--until-stdin-closes']
let started

/** The address of its control API. */
export function controlUrl() {
  started ??= start(process.env.MOCKBROKER || 'mockbroker')
  return started
}

export async function start(path) {
  const child = spawn(path, ['serve', ...OPTIONS], { stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part) => (said += part))
  const lines = createInterface(child.stdout)
  const line = await new Promise((resolve, reject) => {
    lines.once('line', resolve)
    child.once('close', () => reject(new MockBrokerError(`${path} did not start: ${said.trim()}`)))
    child.once('error', (error) => reject(missing(path, error)))
  })
  // The cluster stands still while the pipe is full and nobody reads it, and none of this keeps Node from ending.
  lines.on('line', () => {})
  for (const each of [child, child.stdin, child.stdout, child.stderr]) each.unref()
  return read(line)
}

export function read(line) {
  const { contract, version, control_url: url } = JSON.parse(line)
  if (contract < CONTRACT) throw new MockBrokerError(`mockbroker ${version} is too old for this package: update it`)
  if (contract > CONTRACT) {
    throw new MockBrokerError(`mockbroker ${version} is too new for this package: update the package`)
  }
  return url
}

function missing(path, error) {
  if (error.code !== 'ENOENT') return error
  return new MockBrokerError(
    `no ${path}: install it with \`pip install mockbroker\`, or set MOCKBROKER to the path of its executable`
  )
}
