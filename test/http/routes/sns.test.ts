import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { createSns, type SnsFields, sesEvent, TOPIC } from '../../fakes/sns.ts'
import { useService } from '../service.ts'

const sns = createSns()
const { service } = useService({
  topicArns: [TOPIC],
  publicFetch: sns.publicFetch,
  limits: { apiRequestsPerMinute: 1 },
})
const { service: withoutTopics } = useService()

/** As SNS posts: JSON under the name of text. */
const post = (body: SnsFields | string, { url } = service, type = 'text/plain; charset=UTF-8') =>
  supertest(url)
    .post('/webhooks/sns')
    .set('Content-Type', type)
    .set('x-amz-sns-message-type', 'Notification')
    .send(typeof body === 'string' ? body : JSON.stringify(body))

test('a signed notification is taken, as text or as JSON, without a key', async () => {
  const Message = 'Successfully validated SNS topic.'
  const asText = await post(sns.message({ Message }))
  assert.deepEqual([asText.status, asText.body], [200, { success: true }])
  const asJson = await post(sns.message({ Message }), service, 'application/json')
  assert.equal(asJson.status, 200)
})

test('no rate limit applies', async () => {
  for (let index = 0; index < 3; index += 1) {
    const { status, headers } = await post(sns.message())
    assert.equal(status, 200)
    assert.equal(headers['ratelimit-limit'], undefined)
  }
})

test('S13: a forged message is 403 without further details', async () => {
  const { status, body } = await post({ ...sns.message(), Message: 'other' })
  assert.equal(status, 403)
  assert.equal(body.success, false)
  assert.equal(body.error.code, 'FORBIDDEN')
  assert.equal(body.error.message, 'The notification is not trusted.')
  assert.doesNotMatch(JSON.stringify(body), /signature is not valid/)
})

test('without listed topics every call is 403', async () => {
  for (const body of [sns.message(), '{}', 'no JSON', '']) {
    const reply = await post(body, withoutTopics)
    assert.deepEqual([reply.status, reply.body.success], [403, false])
  }
  const asked = sns.asked.length
  await post(sns.message(), withoutTopics)
  assert.equal(sns.asked.length, asked)
})

test('invalid JSON is 400, JSON that is not an SNS message is 403', async () => {
  const noJson = await post('Type=Notification')
  assert.deepEqual([noJson.status, noJson.body.error.code], [400, 'VALIDATION_ERROR'])
  assert.equal((await post('{}')).status, 403)
  assert.equal((await post('[]')).status, 403)
  assert.equal((await post('null')).status, 403)
})

test('an unknown email is 404, a missing message id 400', async () => {
  const unknown = await post(sns.message({ Message: sesEvent('Open', { messageId: 'x' }) }))
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  const missing = await post(sns.message({ Message: sesEvent('Open', {}) }))
  assert.deepEqual([missing.status, missing.body.error.code], [400, 'BAD_REQUEST'])
})

test('a body of more than 512 KB is 413; 256 KB of quotation marks are not', async () => {
  const large = await post(sns.message({ Message: 'x'.repeat(512 * 1024) }))
  assert.deepEqual([large.status, large.body.error.code], [413, 'PAYLOAD_TOO_LARGE'])
  const quoted = await post(sns.message({ Message: '"'.repeat(255 * 1024) }))
  assert.equal(quoted.status, 200)
})

test('refused messages leave no line in the request log', async () => {
  const before = service.requests.length
  await post('{}')
  await post(sns.message({ TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail' }))
  assert.equal(service.requests.length, before)
})

test('GET is not allowed', async () => {
  const { status, headers } = await supertest(service.url).get('/webhooks/sns')
  assert.deepEqual([status, headers.allow], [405, 'POST'])
})
