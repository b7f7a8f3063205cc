/** Transfer codings: chunked alone is known. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createCounters } from '../../../src/base/counters.ts'
import { createChallenges } from '../../../src/features/operation/acme/challenges.ts'
import { startChallengeListeners } from '../../../src/http/server/challenge-listener.ts'
import { events } from '../../../src/store/schema/events.ts'
import { useService } from '../service.ts'

const { service, mine } = useService()

const BODY = JSON.stringify({ event: 'signup', email: 'reader@example.net' })

/** What the server sends until it closes the connection. */
async function exchangeRaw(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  for (const part of parts) socket.write(part)
  return text(socket)
}

function headOf(fields: readonly string[], version = '1.1'): string {
  const key = `Authorization: Bearer ${mine.secret}`
  const lines = [`POST /v1/track HTTP/${version}`, 'Host: localhost', key, ...fields]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** A request that is sent behind another one, and has an effect. */
const secondTrack = () => `${headOf([`Content-Length: ${BODY.length}`])}${BODY}`

function track(
  fields: readonly string[],
  body: string | Buffer,
  {
    version = '1.1',
    next = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  } = {},
) {
  const octets = Buffer.from(body)
  const chunk = [`${octets.length.toString(16)}\r\n`, octets, '\r\n0\r\n\r\n']
  const { port } = new URL(service.url)
  return exchangeRaw(Number(port), headOf(fields, version), ...chunk, next)
}

const countEvents = () => service.core.store.read.$count(events)

/** Counts when all requests before have had their effect: a later one has had its own. */
async function countEventsLater(): Promise<number> {
  await track(['Transfer-Encoding: chunked'], BODY)
  return (await countEvents()) - 1
}

for (const [name, fields, body] of [
  ['gzip', ['Transfer-Encoding: gzip, chunked'], gzipSync(BODY)],
  ['gzip, which the body does not have', ['Transfer-Encoding: gzip, chunked'], BODY],
  ['gzip in a field of its own', ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'], BODY],
  ['identity', ['Transfer-Encoding: identity, chunked'], BODY],
  ['one that is none', ['Transfer-Encoding: "chunked", chunked'], BODY],
  ['gzip, and much to read', ['Transfer-Encoding: gzip, chunked'], Buffer.alloc(300_000)],
] as const) {
  test(`a transfer coding that is not known is 501, and nothing is done: ${name}`, async () => {
    const before = await countEvents()
    const answer = await track(fields, body)
    assert.match(answer, /^HTTP\/1\.1 501 Not Implemented\r\n/)
    const [head = '', ...rest] = answer.split('\r\n\r\n')
    assert.match(head, /^connection: close\r?$/im)
    assert.match(head, /^x-request-id: [\da-f-]{36}\r?$/im)
    const { error, code } = JSON.parse(rest.join(''))
    assert.deepEqual([error.code, error.statusCode, code], ['NOT_IMPLEMENTED', 501, 501])
    assert.equal(await countEvents(), before)
  })
}

for (const codings of ['chunked', 'Chunked', '\tchunked ', ', chunked']) {
  test(`the transfer coding ${JSON.stringify(codings)} is known, and the connection stays`, async () => {
    const answer = await track([`Transfer-Encoding: ${codings}`], BODY)
    assert.match(answer, /^HTTP\/1\.1 200 .*HTTP\/1\.1 200 /s)
  })
}

for (const coding of ['gzip', 'identity', 'xchunked']) {
  test(`a request whose only transfer coding is ${coding} is 400, because its end is not known`, async () => {
    const before = await countEvents()
    const answer = await track([`Transfer-Encoding: ${coding}`], BODY)
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/)
    assert.match(answer, /"code":"BAD_REQUEST"/)
    assert.equal(answer.split('HTTP/1.1 ').length - 1, 1)
    assert.equal(await countEvents(), before)
  })
}

test('nothing that comes behind a transfer coding that is not known is done', async () => {
  const before = await countEvents()
  const fields = ['Transfer-Encoding: gzip, chunked']
  const answer = await track(fields, BODY, { next: secondTrack() })
  assert.match(answer, /^HTTP\/1\.1 501 /)
  assert.equal(answer.split('HTTP/1.1 ').length - 1, 1)
  assert.equal(await countEventsLater(), before)
})

test('a chunked request of HTTP/1.0 is the last of its connection', async () => {
  const before = await countEvents()
  const fields = ['Transfer-Encoding: chunked', 'Connection: keep-alive']
  const answer = await track(fields, BODY, { version: '1.0', next: secondTrack() })
  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(answer.split('HTTP/1.1 ').length - 1, 1)
  assert.equal(await countEventsLater(), before + 1)
})

test('the listener for challenges knows no other transfer coding either', async (t) => {
  const listen = [{ host: '127.0.0.1', port: 0, isTls: false }]
  const listeners = await startChallengeListeners({
    acmeChallenges: createChallenges(),
    config: { baseUrl: 'https://app.example.test', acme: { listen } } as never,
    counters: createCounters(),
    now: Date.now,
  })
  t.after(listeners.stop)
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'
  const answer = await exchangeRaw(listeners.addresses[0]!.port, `${head}1\r\na\r\n0\r\n\r\n`)
  assert.match(answer, /^HTTP\/1\.1 501 /)
})
