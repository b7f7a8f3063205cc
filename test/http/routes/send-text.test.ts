import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
})

const valid = { to: 'ann@example.net', from: 'hello@example.test', subject: 'Hello {{ name }}' }

async function send(body: object): Promise<string> {
  const sent = await call('post', '/v1/send').send({ ...valid, ...body })
  assert.equal(sent.status, 200, sent.text)
  assert.equal(sent.body.data.warnings, undefined)
  return sent.body.data.emails[0].email
}

test('a text without HTML is a message of one text/plain part', async () => {
  const id = await send({
    text: 'Bye {{ name }} <3 & {{ mark }}',
    data: { name: 'A&B', mark: '<' },
  })
  const raw = (await call('get', `/emails/${id}/raw`).buffer(true)).text
  assert.match(raw, /^Content-Type: text\/plain; charset=utf-8\r$/m)
  assert.match(raw, /\r\n\r\nBye A&B <3 & <\r\n$/)
  assert.doesNotMatch(raw, /multipart|text\/html|List-Unsubscribe/i)
  const { body } = await call('get', `/emails/${id}`)
  assert.deepEqual([body.subject, body.body], ['Hello A&B', 'Bye A&B <3 & <'])
  const listed = await call('get', '/emails')
  assert.equal(listed.body.data[0].id, id)
  const feed = await call('get', '/activity')
  assert.equal(feed.status, 200)
})

test('a text beside a template stays a part beside its HTML', async () => {
  const template = await call('post', '/templates').send({
    ...{ name: 'T', type: 'TRANSACTIONAL', from: 'hello@example.test' },
    ...{ subject: 'S', body: '<p>HTML</p>' },
  })
  const id = await send({ subject: undefined, template: template.body.id, text: 'Text' })
  const raw = (await call('get', `/emails/${id}/raw`).buffer(true)).text
  assert.match(raw, /multipart\/alternative/)
  assert.match(raw, /\r\n\r\nText\r\n/)
  assert.match(raw, /<p>HTML<\/p>/)
})
