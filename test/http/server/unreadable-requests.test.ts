/** Unreadable requests and unwanted bodies: their senders get the error envelope. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { useService } from '../service.ts'

const MB = 1024 * 1024

/** A body of a message may have 10 MB. */
const { service, mine } = useService({ limits: { messageMaxBytes: 8 * MB } })

const dial = () => connect(Number(new URL(service.url).port), '127.0.0.1')

/** Returns status line, header fields and envelope of the response to `request`. */
async function exchangeRaw(request: string | Buffer) {
  const socket = dial()
  socket.write(request)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined)
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(fields.map((field) => field.toLowerCase().split(': ')))
  return { line, headers, body: JSON.parse(body) }
}

for (const [name, request, status, code] of [
  [
    'a header with a control character',
    'GET / HTTP/1.1\r\nHost: a\r\nX: b\x01c\r\n\r\n',
    400,
    'BAD_REQUEST',
  ],
  [
    'a header with a NUL',
    'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: b\x00\r\n\r\n',
    400,
    'BAD_REQUEST',
  ],
  ['a request line that is none', 'NONSENSE\r\n\r\n', 400, 'BAD_REQUEST'],
  ['another version', 'GET / HTTP/7.0\r\nHost: a\r\n\r\n', 400, 'BAD_REQUEST'],
  ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
  ['a bad Host', 'GET / HTTP/1.1\r\nHost: a b<c>\r\nConnection: close\r\n\r\n', 400, 'BAD_REQUEST'],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    'BAD_REQUEST',
  ],
  [
    'a chunk of no length',
    'POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    400,
    'BAD_REQUEST',
  ],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(300_000)}\r\n\r\n`,
    431,
    'REQUEST_HEADER_FIELDS_TOO_LARGE',
  ],
  [
    'a path that is too long',
    `GET /${'x'.repeat(300_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    431,
    'REQUEST_HEADER_FIELDS_TOO_LARGE',
  ],
] as const) {
  test(`${name} is ${status} in the envelope, with a request id`, async () => {
    const { line, headers, body } = await exchangeRaw(request)
    assert.match(line, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(headers['x-request-id'] ?? '', /^[\da-f-]{36}$/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(headers['content-type'] ?? '', /^application\/json/)
    const { code: told, statusCode, requestId } = body.error
    assert.deepEqual([told, statusCode, requestId], [code, status, headers['x-request-id']])
    assert.equal(body.code, undefined)
  })
}

test('under /v1/ unreadable requests get the older error fields beside the envelope', async () => {
  const { body } = await exchangeRaw('POST /v1/send HTTP/1.1\r\nHost: a\r\nX: b\x01\r\n\r\n')
  assert.equal(body.code, 400)
  assert.equal(body.message, body.error.message)
  const head = ['POST /v1/track HTTP/1.1', 'Host: a', `Authorization: Bearer ${mine.secret}`]
  const chunked = `${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`
  const inBody = await exchangeRaw(`${chunked}${'f'.repeat(18)}\r\n{}`)
  assert.equal(inBody.body.code, 400)
  assert.equal(inBody.body.message, inBody.body.error.message)
})

test('the response to a request comes before the refusal of the bytes after it', async () => {
  const socket = dial()
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined)
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n')
  await once(socket, 'close')
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 200 .*HTTP\/1\.1 400 /s)
})

/** As a client that looks for a response when it has sent everything, like Python's. */
async function sendWhole(path: string, key: string, sizeBytes: number, isChunked = false) {
  const socket = dial()
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${sizeBytes}`
  const type = 'Content-Type: multipart/form-data; boundary=x'
  socket.pause()
  await sent(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${type}\r\n${length}\r\n\r\n`,
  )
  const piece = Buffer.alloc(MB, ' ')
  for (let left = sizeBytes; left > 0; left -= MB) {
    if (isChunked) await sent(`${MB.toString(16)}\r\n`)
    await sent(piece)
    if (isChunked) await sent('\r\n')
  }
  if (isChunked) await sent('0\r\n\r\n')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk)).resume()
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()

  function sent(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      socket.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }
}

for (const [name, path, sizeMb, status, isChunked] of [
  ['15 MB of JSON', '/v1/send', 15, 413, false],
  ['15 MB of JSON in chunks', '/v1/send', 15, 413, true],
  ['15 MB to a route that takes 1 MB', '/v1/track', 15, 413, false],
  ['an import of 20 MB', '/contacts/import', 20, 413, false],
  ['15 MB to no route', '/nowhere', 15, 404, false],
  ['15 MB to another method', '/health', 15, 405, false],
] as const) {
  test(`a client that sends everything first receives ${status} for ${name}`, async () => {
    const text = await sendWhole(path, mine.secret, sizeMb * MB, isChunked)
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(text, /connection: close/i)
    assert.match(text, /"requestId"/)
  })
}

test('a client that sends everything first receives 401 for 15 MB with an unknown key', async () => {
  assert.match(await sendWhole('/v1/send', 'nonsense', 15 * MB), /^HTTP\/1\.1 401 /)
})

test("Node's fetch receives the refusal of 15 MB of JSON and of an import of 20 MB", async () => {
  const headers = { authorization: `Bearer ${mine.secret}` }
  for (let round = 0; round < 2; round += 1) {
    const body = Buffer.alloc(15 * MB, ' ')
    const json = await fetch(`${service.url}/v1/send`, { method: 'POST', headers, body })
    const form = new FormData()
    form.append('file', new Blob([Buffer.alloc(20 * MB, 'a')], { type: 'text/csv' }), 'a.csv')
    const csv = await fetch(`${service.url}/contacts/import`, {
      method: 'POST',
      headers,
      body: form,
    })
    for (const response of [json, csv]) {
      const { error } = (await response.json()) as { error: { code: string } }
      assert.deepEqual([response.status, error.code], [413, 'PAYLOAD_TOO_LARGE'])
    }
  }
})

test('at most 20 MB beyond its limit are read of a refused body', async () => {
  const socket = dial()
  socket.on('error', () => undefined)
  socket.write('POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const piece = Buffer.from(`${MB.toString(16)}\r\n${' '.repeat(MB)}\r\n`)
  const isClosed = new Promise((resolve) => socket.once('close', resolve))
  let sentMb = 0
  while (!socket.destroyed && sentMb < 500) {
    await new Promise((written) => socket.write(piece, written))
    sentMb += 1
  }
  await isClosed
  // The buffers of both ends of the socket fill up, but are not read.
  assert.ok(sentMb < 60, `${sentMb} MB were taken`)
})

test('the server waits five seconds for a refused body that never arrives', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const socket = dial()
  socket.write('POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 404 /)
  const isClosed = once(socket, 'close')
  t.mock.timers.tick(4_999)
  await new Promise(setImmediate)
  assert.equal(socket.readableEnded, false)
  t.mock.timers.tick(1)
  await isClosed
})

test('a connection is kept after a refusal whose body is short', async () => {
  const { hostname, port } = new URL(service.url)
  const body = Buffer.alloc(10_000, ' ')
  const head = { 'content-length': body.length }
  const request = httpRequest({ hostname, port, path: '/nowhere', method: 'POST', headers: head })
  request.flushHeaders()
  const [response] = await once(request, 'response')
  request.end(body)
  assert.equal(response.statusCode, 404)
  assert.equal(response.headers.connection, 'keep-alive')
  response.resume()
})

/** All that comes for a head whose body is kept back until it is asked for. */
async function expectContinue(path: string, more: string[], body = ''): Promise<string> {
  const socket = dial()
  const known = more.some((field) => field.startsWith('Authorization'))
  const key = known ? [] : [`Authorization: Bearer ${mine.secret}`]
  const head = [`POST ${path} HTTP/1.1`, 'Host: a', 'Expect: 100-continue', ...key, ...more]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  const chunks: Buffer[] = []
  socket.on('error', () => undefined)
  for await (const chunk of socket) {
    chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    if (/^HTTP\/1\.1 100 Continue\r\n\r\n$/.test(text)) socket.write(body)
    else if (text.includes('timestamp')) break
  }
  return Buffer.concat(chunks).toString()
}

const csv = 'Content-Type: multipart/form-data; boundary=x'
for (const [name, path, fields, status] of [
  ['a body above the limit', '/v1/track', ['Content-Length: 2000000'], 413],
  ['a CSV file above the limit', '/contacts/import', ['Content-Length: 90000000', csv], 413],
  ['an unknown key', '/v1/track', ['Content-Length: 9', 'Authorization: Bearer sk_a'], 401],
  ['an unknown encoding', '/v1/track', ['Content-Length: 9', 'Content-Encoding: zstd'], 415],
  ['an unknown encoding of a file', '/contacts/import', [csv, 'Content-Encoding: zstd'], 415],
  ['no route', '/nowhere', ['Content-Length: 9'], 404],
] as const) {
  test(`a client that expects 100 receives ${status} for ${name}, and no 100`, async () => {
    const length = fields.some((field) => field.startsWith('Content-Length'))
    const more = length ? [...fields] : [...fields, 'Transfer-Encoding: chunked']
    const text = await expectContinue(path, more)
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(text, /^connection: close\r$/im)
  })
}

test('a client that waits for a 100 gets it when its body is read', async () => {
  const body = JSON.stringify({ event: 'signup', email: 'a@dest.test' })
  const text = await expectContinue('/v1/track', [`Content-Length: ${body.length}`], body)
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  const file = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n--x--\r\n'
  const form = await expectContinue(
    '/contacts/import',
    [csv, `Content-Length: ${file.length}`],
    file,
  )
  assert.match(form, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 /)
})

test('an unknown expectation is ignored', async () => {
  const response = await new Promise<number | undefined>((resolve) => {
    const headers = { expect: 'the-unexpected' }
    const request = httpRequest(`${service.url}/health`, { headers }, (incoming) => {
      resolve(incoming.resume().statusCode)
    })
    request.end()
  })
  assert.equal(response, 200)
})
