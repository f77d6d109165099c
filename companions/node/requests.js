// Requests to the control API.
import { request } from 'node:http'

/** What mockbroker refuses, in its words; `field` is the argument that is wrong, if it is known. */
export class MockBrokerError extends Error {
  constructor(message, field) {
    super(message)
    this.name = 'MockBrokerError'
    this.field = field
  }
}

/** The answer, once its head has come. */
export function open(method, url, values) {
  return new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify(values ?? {}))
    // Node tells the length of no body of a GET by itself.
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const sent = request(url, { method, headers, agent: false }, resolve)
    sent.on('error', (error) => reject(new MockBrokerError(`mockbroker has ended: ${error.message}`)))
    sent.end(body)
  })
}

export async function text(answer) {
  const parts = []
  for await (const part of answer) parts.push(part)
  return Buffer.concat(parts).toString()
}

export async function ask(method, url, values) {
  const answer = await open(method, url, values)
  const found = await text(answer)
  if (answer.statusCode >= 400) throw refusal(found)
  return JSON.parse(found)
}

export function refusal(found) {
  let refused
  try {
    refused = JSON.parse(found)
  } catch {
    return new MockBrokerError(found.trim())
  }
  return new MockBrokerError(refused.error, refused.field)
}
