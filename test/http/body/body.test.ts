/** Bodies on their way in: their encodings, limits, pace, and the memory that they share. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import supertest from 'supertest'
import { trustDomain } from '../../core.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { useService } from '../service.ts'

const MB = 1024 * 1024
/** 80 MB of zeros, more than any route takes, in less than 1 MB. */
const bomb = gzipSync(Buffer.alloc(80 * MB), { level: 1 })

const { service, mine } = useService(
  { limits: { attachmentsMaxBytes: 40 * MB } },
  ({ service, mine }) => trustDomain(service.core, mine.id, 'example.test'),
)

type Answer = { status: number; body: { error?: { code: string; errors?: { field: string }[] } } }

/** Posts the bytes unchanged, in any encoding, and returns the response. */
async function post(
  path: string,
  body: Buffer | string,
  headers: Record<string, string> = {},
): Promise<Answer & { headers: IncomingHttpHeaders }> {
  const request = httpRequest(service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${mine.secret}`,
      'content-length': Buffer.byteLength(body),
      ...headers,
    },
  })
  request.on('error', () => undefined).end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  return { status: Number(response.statusCode), headers: response.headers, body: JSON.parse(text) }
}

const message = {
  to: 'a@dest.test',
  from: 'hello@example.test',
  subject: 'Hello',
  body: '<p>Hello</p>',
}
const event = JSON.stringify({ event: 'signup', email: 'a@dest.test' })

const ENCODINGS: [string, (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', Buffer.from],
]

for (const [encoding, compress] of ENCODINGS) {
  test(`a body in ${encoding} is decoded`, async () => {
    const headers = { 'content-encoding': encoding }
    assert.equal((await post('/v1/track', compress(event), headers)).status, 200)
  })
}

test('an unknown encoding is 415, and the response names the known ones', async () => {
  for (const encoding of ['zstd', 'gzip, br', 'constructor']) {
    const { status, headers, body } = await post('/v1/track', event, {
      'content-encoding': encoding,
    })
    assert.deepEqual([status, body.error?.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
    assert.equal(headers['accept-encoding'], 'gzip, deflate, br')
  }
})

test('a body that does not match its encoding is 400, and so is half of one', async () => {
  const headers = { 'content-encoding': 'gzip' }
  for (const body of [event, gzipSync(event).subarray(0, 30), deflateSync(event)]) {
    const answer = await post('/v1/track', body, headers)
    assert.deepEqual([answer.status, answer.body.error?.code], [400, 'VALIDATION_ERROR'])
  }
})

test('a decompression bomb is cut off at the limit of its route: 413', async () => {
  const headers = { 'content-encoding': 'gzip' }
  assert.ok(bomb.length < MB)
  for (const path of ['/v1/track', '/v1/send']) {
    const { status, body } = await post(path, bomb, headers)
    assert.deepEqual([status, body.error?.code], [413, 'PAYLOAD_TOO_LARGE'])
  }
  const type = 'multipart/form-data; boundary=x'
  const form = await post('/contacts/import', bomb, { ...headers, 'content-type': type })
  assert.deepEqual([form.status, form.body.error?.code], [413, 'PAYLOAD_TOO_LARGE'])
})

test('an import may be compressed too', async () => {
  const form = [
    '--x',
    'Content-Disposition: form-data; name="file"; filename="a.csv"',
    'Content-Type: text/csv',
    '',
    'email\nb@dest.test\n',
    '--x--',
    '',
  ].join('\r\n')
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'br' }
  assert.equal((await post('/contacts/import', brotliCompressSync(form), headers)).status, 202)
  const broken = await post('/contacts/import', form, headers)
  assert.deepEqual([broken.status, broken.body.error?.code], [400, 'VALIDATION_ERROR'])
})

test('a one-click request counts in any encoding of its form', async () => {
  for (const encoding of ['zstd', 'gzip']) {
    const { status } = await supertest(service.url)
      .post('/unsubscribe/nobody')
      .set('Content-Encoding', encoding)
      .send('List-Unsubscribe=One-Click')
    assert.equal(status, 200)
  }
})

test('a route without its own limit accepts 1 MB', async () => {
  const sized = (bytes: number) => event + ' '.repeat(bytes - event.length)
  assert.equal((await post('/v1/track', sized(MB))).status, 200)
  for (const path of ['/v1/track', '/contacts', '/segments', '/events/track']) {
    const { status, body } = await post(path, sized(MB + 1))
    assert.deepEqual([status, body.error?.code], [413, 'PAYLOAD_TOO_LARGE'], path)
  }
})

test('a template of maximum length is accepted, however its characters are escaped', async () => {
  const fields = { name: 'Long', subject: 'Hello', from: 'hello@example.test' }
  const body = '\\u0436'.repeat(2_000_000)
  const text = `${JSON.stringify(fields).slice(0, -1)},"body":"${body}"}`
  assert.equal((await post('/templates', text)).status, 201)
})

test('10,000 excluded ids are accepted in indented JSON', async () => {
  const excludeIds = Array.from({ length: 10_000 }, () => crypto.randomUUID())
  const order = { mode: 'query', filter: { search: 'nobody@' }, excludeIds }
  const text = JSON.stringify(order, undefined, 4)
  assert.equal((await post('/contacts/bulk-unsubscribe', text)).status, 202)
})

test('10,000 addresses of maximum length are accepted for verification', async () => {
  const emails = Array.from({ length: 10_000 }, (_, n) => `${n}@`.padEnd(1024, 'x'))
  const text = JSON.stringify({ emails }, undefined, 2)
  assert.equal((await post('/contacts/verify', text)).status, 202)
})

test('a message with an attachment of 38 MB in base64 is taken', async () => {
  const content = Buffer.alloc(28 * MB, 'attached').toString('base64')
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', content }
  const { status, body } = await post(
    '/v1/send',
    JSON.stringify({ ...message, attachments: [file] }),
  )
  assert.equal(status, 200, JSON.stringify(body))
})

test('body and text together are limited to 10 MB, for any limit of a message', async () => {
  for (const [length, expected] of [
    [5 * MB, 200],
    [5 * MB + 1, 422],
  ] as const) {
    const texts = { body: 'x'.repeat(length), text: 'y'.repeat(5 * MB) }
    const { status, body } = await post('/v1/send', JSON.stringify({ ...message, ...texts }))
    assert.equal(status, expected)
    if (status === 422) assert.equal(body.error?.errors?.[0]?.field, 'body')
  }
})

test('a long attachment that is not base64 is refused, wherever the fault is', async () => {
  const content = Buffer.alloc(3 * MB, 'attached').toString('base64')
  const file = { filename: 'a.bin', contentType: 'application/octet-stream' }
  for (const bad of [`%${content}`, `${content}%`, content.replace('Y', '='), `${content}A`]) {
    const attachments = [
      { ...file, content: 'aGk=' },
      { ...file, content: bad },
    ]
    const { status, body } = await post('/v1/send', JSON.stringify({ ...message, attachments }))
    const [error] = body.error?.errors ?? []
    assert.deepEqual([status, error?.field], [422, 'attachments.1.content'])
  }
})

test('any excess of header fields is one `too_big` error', async () => {
  for (const count of [51, 20_000, 30_000]) {
    const headers = Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, '']))
    const { status, body } = await post('/v1/send', JSON.stringify({ ...message, headers }))
    assert.equal(status, 422)
    const [error, ...others] = body.error?.errors ?? []
    assert.deepEqual(error && { ...error, message: '' }, {
      field: 'headers',
      code: 'too_big',
      message: '',
    })
    assert.equal(others.length, 0)
  }
})

/** A request of which `body` is sent for now. */
function begin(path: string, length: number, body: Buffer | string, field = 'X-Field: a'): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${mine.secret}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${length}`,
    field,
  ]
  socket.on('error', () => undefined)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  return socket
}

test('a body that trickles is 408, in the envelope', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers = ['', '', '', '']
  const calls = [
    ...['/v1/track', '/v1/send', '/contacts/import'].map((path) => [path, 100_000] as const),
    ['/v1/track', 100] as const,
  ]
  const sockets = calls.map(([path, length], at) =>
    begin(path, length, '--x\r\n').on('data', (chunk) => {
      answers[at] = `${answers[at]}${chunk}`
    }),
  )
  const endsAt = performance.now() + PATIENCE_MS
  while (!answers.every((answer) => answer.includes('timestamp'))) {
    assert.ok(performance.now() < endsAt, `no response: ${answers}`)
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    t.mock.timers.tick(1_000)
  }
  for (const socket of sockets) socket.destroy()
  for (const answer of answers) {
    assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.match(answer, /"code":"REQUEST_TIMEOUT"/)
    assert.match(answer, /x-request-id: /)
    // What comes later is no request of its own.
    assert.match(answer, /connection: close/i)
  }
})

/** The status for a large body that is no JSON, from an address of its own. */
async function postLarge(from: string, sizeBytes: number): Promise<number | undefined> {
  const request = httpRequest(`${service.url}/v1/send`, {
    method: 'POST',
    localAddress: from,
    agent: false,
    headers: { authorization: `Bearer ${mine.secret}`, 'content-length': sizeBytes },
  })
  request.end(Buffer.alloc(sizeBytes, ' '))
  const [response] = await once(request, 'response')
  response.resume()
  return response.statusCode
}

test('large bodies from one address wait for each other and for no others', async () => {
  const holder = begin('/v1/send', 50 * MB, Buffer.alloc(MB, ' '))
  // Once these later requests are answered, the body of the holder is being read.
  for (let round = 0; round < 5; round += 1) await post('/v1/track', event)
  let isAnswered = false
  const waiter = postLarge('127.0.0.1', 16 * MB).finally(() => {
    isAnswered = true
  })
  assert.equal(await postLarge('127.0.0.2', 16 * MB), 400)
  assert.equal((await post('/v1/track', event)).status, 200)
  assert.equal(isAnswered, false)
  holder.destroy()
  assert.equal(await waiter, 400)
})

test('a body that waits ten seconds for memory is 429 with Retry-After', async (t) => {
  const holder = begin('/v1/send', 50 * MB, Buffer.alloc(MB, ' '))
  for (let round = 0; round < 5; round += 1) await post('/v1/track', event)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const waiter = begin('/v1/send', 40 * MB, Buffer.alloc(MB, ' '))
  let answer = ''
  waiter.on('data', (chunk) => {
    answer += chunk
  })
  // The holder would be too slow after as many.
  for (let second = 0; second < 9 || !answer.includes('timestamp'); second += 1) {
    holder.write(Buffer.alloc(MB / 4, ' '))
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    t.mock.timers.tick(1_000)
  }
  holder.destroy()
  waiter.destroy()
  assert.match(answer, /^HTTP\/1\.1 429 /)
  assert.match(answer, /retry-after: 10/)
})

/**
 * Resolves with the status when the server has closed the connection, so that no timer of the server
 * waits for the rest of the body: a later test fakes timers, and its `clearTimeout` ends fakes only.
 */
async function sendBomb(): Promise<number> {
  const fields = 'Content-Encoding: gzip\r\nConnection: close'
  const socket = begin('/v1/send', bomb.length, bomb, fields)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  await once(socket, 'close')
  return Number(answer.split(' ')[1])
}

test('decompression bombs from one address do not hinder a message of 9 MB', async () => {
  const bombs = Array.from({ length: 4 }, sendBomb)
  await bombs[0]
  const content = Buffer.alloc(6.5 * MB, 'attached').toString('base64')
  const file = { filename: 'a.bin', contentType: 'application/octet-stream', content }
  const sent = await post('/v1/send', JSON.stringify({ ...message, attachments: [file] }))
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  for (const status of await Promise.all(bombs)) assert.ok([413, 429].includes(status), `${status}`)
})

test('a body of 50 MB that trickles is refused after ten seconds, and its memory is freed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const holder = begin('/v1/send', 50 * MB, Buffer.alloc(MB, ' '))
  for (let round = 0; round < 5; round += 1) await post('/v1/track', event)
  let answer = ''
  holder.on('data', (chunk) => {
    answer += chunk
  })
  const pass = async (ms: number) => {
    holder.write(Buffer.alloc(4096, ' '))
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    t.mock.timers.tick(ms)
  }
  for (let second = 0; second < 5; second += 1) await pass(1_000)
  const waiter = postLarge('127.0.0.1', 16 * MB)
  for (let second = 0; second < 6; second += 1) await pass(1_000)
  while (!answer.includes('timestamp')) await pass(0)
  holder.destroy()
  assert.match(answer, /^HTTP\/1\.1 408 /)
  assert.equal(await waiter, 400)
})

test('requests without a known key are refused before their bodies need memory', async () => {
  const holder = begin('/v1/send', 50 * MB, Buffer.alloc(MB, ' '))
  for (let round = 0; round < 5; round += 1) await post('/v1/track', event)
  for (const authorization of ['', 'Bearer sk_unknown']) {
    const { status } = await post('/v1/send', Buffer.alloc(15 * MB, ' '), { authorization })
    assert.equal(status, 401)
  }
  holder.destroy()
})
