import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createCounters } from '../../../src/base/counters.ts'
import { createChallenges } from '../../../src/features/operation/acme/challenges.ts'
import { startChallengeListeners } from '../../../src/http/server/challenge-listener.ts'

const TOKEN = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0'
const PATH = `/.well-known/acme-challenge/${TOKEN}`

async function open(t: TestContext, baseUrl = 'https://app.example.test/mail') {
  const acmeChallenges = createChallenges()
  acmeChallenges.add(TOKEN, `${TOKEN}.thumbprint`)
  const listen = ['127.0.0.1', '::1'].map((host) => ({ host, port: 0, isTls: false }))
  const config = { baseUrl, acme: { listen } } as never
  const listeners = await startChallengeListeners({
    acmeChallenges,
    config,
    counters: createCounters(),
    now: Date.now,
  })
  t.after(listeners.stop)
  const get = async (path: string, { method = 'GET', headers = {}, at = 0 } = {}) => {
    const { host, port } = listeners.addresses[at]!
    const sent = request({ host, port, path, method, headers }).end()
    const [response] = await once(sent, 'response')
    const { statusCode: status, headers: fields } = response
    return { status, location: fields.location as string | undefined, body: await text(response) }
  }
  return { acmeChallenges, get, port: listeners.addresses[0]!.port }
}

test('a known token is answered on each address, whatever the Host header says', async (t) => {
  const { get, acmeChallenges } = await open(t)
  for (const host of ['app.example.test', 'evil.example', '127.0.0.1']) {
    const found = await get(PATH, { headers: { host } })
    assert.deepEqual([found.status, found.body], [200, `${TOKEN}.thumbprint`])
  }
  assert.equal((await get(PATH, { at: 1 })).status, 200)
  acmeChallenges.delete(TOKEN)
  assert.equal((await get(PATH)).status, 404)
})

test('an unknown token is a 404, and so is any other way to write a known one', async (t) => {
  const { get } = await open(t)
  for (const path of [
    '/.well-known/acme-challenge/',
    `${PATH}x`,
    `${PATH}/`,
    `${PATH}?a=b`,
    `${PATH}%00`,
    '/.well-known/acme-challenge/__proto__',
  ]) {
    const { status, body, location } = await get(path)
    assert.deepEqual([status, location], [404, undefined], path)
    assert.doesNotMatch(body, /thumbprint/)
  }
  assert.equal((await get(PATH, { method: 'POST' })).status, 404)
})

test('everything else is redirected to base_url, and never to another host', async (t) => {
  const { get } = await open(t)
  const cases = {
    '/': 'https://app.example.test/mail',
    '/login?next=/a': 'https://app.example.test/login?next=/a',
    '//evil.example/x': 'https://app.example.test//evil.example/x',
    '/\\evil.example': 'https://app.example.test//evil.example',
    '/@evil.example': 'https://app.example.test/@evil.example',
    'http://evil.example/x': 'https://app.example.test/mail',
    '/%0d%0aset-cookie:a=b': 'https://app.example.test/%0d%0aset-cookie:a=b',
  }
  for (const [path, location] of Object.entries(cases)) {
    const found = await get(path, { headers: { host: 'evil.example' } })
    assert.deepEqual([found.status, found.location], [308, location], path)
  }
})

test('without https in base_url nothing is redirected, since it may lead here', async (t) => {
  const { get } = await open(t, 'http://app.example.test')
  assert.equal((await get('/login')).status, 404)
  assert.equal((await get(PATH)).status, 200)
})

test('headers of more than 8 KB are refused', async (t) => {
  const { port } = await open(t)
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(9_000)}\r\n\r\n`)
  assert.match(await text(socket), /^HTTP\/1\.1 431 /)
})

test('S36: the tenth request of a connection is the last, however many are sent at once', async (t) => {
  const { port } = await open(t)
  const ask = `GET ${PATH} HTTP/1.1\r\nhost: a\r\n\r\n`
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(ask.repeat(5_000))
  let answers = ''
  socket.on('data', (bytes: Buffer) => {
    answers += bytes.toString()
  })
  await new Promise((resolve) => socket.once('close', resolve))
  assert.equal(answers.split('HTTP/1.1 200 ').length - 1, 10)
  assert.equal(answers.split('HTTP/1.1 ').length - 1, 10)
  assert.match(answers.slice(answers.lastIndexOf('HTTP/1.1')), /connection: close/i)
})

test('S36: a body is not asked for, and its connection is closed', async (t) => {
  const { port } = await open(t)
  for (const field of ['content-length: 1000000', 'transfer-encoding: chunked']) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: a\r\n${field}\r\nexpect: 100-continue\r\n\r\n`)
    const answer = await text(socket)
    assert.match(answer, /^HTTP\/1\.1 404 /)
    assert.doesNotMatch(answer, / 100 /)
  }
})
