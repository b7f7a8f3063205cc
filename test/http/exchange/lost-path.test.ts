/** Requests of programs that were written for another server, or have a wrong base address. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Plunk from '@plunk/node'
import supertest from 'supertest'
import { useService } from '../service.ts'

const { service } = useService()

/** Clients of the family read the fields at the top level. */
async function suggestionOf(method: 'get' | 'post' | 'put', path: string) {
  const { status, body } = await supertest(service.url)[method](path)
  const { suggestion, message } = body.error
  assert.deepEqual([body.code, body.message], [status, `${message} ${suggestion}`])
  return { status, suggestion: suggestion as string }
}

test('a path that another server has is answered with the one of this server', async () => {
  const { baseUrl } = service.core.config
  const below = `The API for sending is below /v1; with the slash at the end of the base address: ${baseUrl}/v1/`
  for (const [method, path, expected] of [
    ['post', '/api/v1/send', `Use POST /v1/send. ${below}`],
    ['post', '/api/v1/track/', `Use POST /v1/track. ${below}`],
    ['post', '/api/send', `Use POST /v1/send. ${below}`],
    ['post', '/send', `Use POST /v1/send. ${below}`],
    ['post', '/v1/v1/send', `Use POST /v1/send. ${below}`],
    ['get', '/v1/contacts', 'Use GET /contacts.'],
    ['get', '/api/v1/contacts', 'Use GET /contacts.'],
    ['get', '/api/subscribers', 'Use GET /contacts.'],
    ['post', '/api/subscribers', 'Use POST /contacts.'],
    ['get', '/api/subscribers/7', 'Use GET /contacts/7.'],
    ['get', '/api/lists', 'Use GET /segments.'],
    ['post', '/api/campaigns', 'Use POST /campaigns.'],
    ['post', '/api/import/subscribers', 'Use POST /contacts/import.'],
    ['post', '/api/tx', `Use POST /v1/send. ${below}`],
    ['get', '/api/subscribersx', below],
    ['get', '/api/v1/nothing', below],
    ['get', '/nothing', 'The paths of this API are listed at /docs.'],
    ['get', '/send', 'The paths of this API are listed at /docs.'],
  ] as const) {
    assert.deepEqual(await suggestionOf(method, path), { status: 404, suggestion: expected }, path)
  }
})

test('the client of the family without the slash learns where its base address ends', async () => {
  const paths: string[] = []
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    paths.push(new URL(String(input)).pathname)
    return fetch(input, init)
  }
  try {
    const client = new Plunk.default('sk_x', { baseUrl: `${service.url}/v1` })
    const sending = client.emails.send({ to: 'a@b.test', subject: 's', body: 'b' })
    await assert.rejects(sending, /at this path .*Use POST \/v1\/send\..*slash at the end/)
  } finally {
    globalThis.fetch = fetch
  }
  const [path = ''] = paths
  const { status, suggestion } = await suggestionOf('post', path)
  assert.equal(status, 404, path)
  assert.match(suggestion, /with the slash at the end of the base address/)
})

test('POST /emails of another API is told how to send', async () => {
  for (const path of ['/emails', '/emails/', '/emails/batch']) {
    const sent = { status: 405, suggestion: 'To send: POST /v1/send.' }
    assert.deepEqual(await suggestionOf('post', path), sent, path)
  }
  for (const path of [
    '/v1/emails',
    '/v1/emails/batch',
    '/v3/mail/send',
    '/v3/smtp/email',
    '/email',
  ]) {
    const sent = { status: 404, suggestion: 'To send: POST /v1/send.' }
    assert.deepEqual(await suggestionOf('post', path), sent, path)
  }
  const { suggestion } = await suggestionOf('put', '/emails')
  assert.equal(suggestion, 'Use one of the methods in the Allow header.')
})
