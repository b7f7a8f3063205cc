import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import {
  addRecipient,
  pageToken,
  subscriptionEvents,
} from '../../../features/people/contacts/add-recipient.ts'
import { useService } from '../../service.ts'

const { service, mine } = useService()

const base = '/contacts/public'
const get = (path: string) => supertest(service.url).get(`${base}/${path}`)
const post = (path: string) => supertest(service.url).post(`${base}/${path}`)

test('a contact is read and changed by its token, without a key', async () => {
  const campaignId = newId()
  const { contactId, emailId, token } = await addRecipient(service.core, {
    projectId: mine.id,
    email: 'Ada@People.test',
    data: { locale: 'nl-BE', plan: 'secret' },
    campaignId,
  })
  const seen = { id: contactId, email: 'ada@people.test', subscribed: true }
  const shown = await get(token)
  assert.equal(shown.status, 200)
  assert.deepEqual(shown.body, { ...seen, language: 'nl' })
  assert.equal(shown.headers['cache-control'], 'no-store')
  assert.equal(shown.headers['access-control-allow-origin'], undefined)

  for (const subscribed of [false, false, true, true]) {
    const path = `${token}/${subscribed ? 'subscribe' : 'unsubscribe'}`
    const changed = await post(path)
    assert.equal(changed.status, 200)
    assert.deepEqual(changed.body, { ...seen, subscribed })
    assert.equal((await get(token)).body.subscribed, subscribed)
  }
  const data = { reason: 'api', campaignId }
  assert.deepEqual(await subscriptionEvents(service.core), [
    { name: 'contact.unsubscribed', contactId, emailId, data },
    { name: 'contact.subscribed', contactId, emailId, data },
  ])
})

test('the request may name the email with the link; a wrong one is ignored', async () => {
  const projectId = mine.id
  const ada = await addRecipient(service.core, { projectId })
  const bob = await addRecipient(service.core, { projectId })
  const bare = pageToken(service.core, { contactId: ada.contactId, emailId: undefined })
  const lastEmail = async () => (await subscriptionEvents(service.core)).at(-1)?.emailId
  assert.equal((await post(`${bare}/unsubscribe?e=${ada.emailId}`)).status, 200)
  assert.equal(await lastEmail(), ada.emailId)
  assert.equal((await post(`${bare}/subscribe?e=${bob.emailId}`)).status, 200)
  assert.equal(await lastEmail(), null)
  assert.equal((await post(`${ada.token}/unsubscribe?e=nonsense`)).status, 200)
  assert.equal(await lastEmail(), ada.emailId)
})

test('a contact id, a key or an invented token is 404 on every path', async () => {
  const { contactId, token } = await addRecipient(service.core, { projectId: mine.id })
  const gone = pageToken(service.core, { contactId: newId(), emailId: undefined })
  const count = await service.core.store.read.$count(events)
  for (const wrong of [contactId, newId(), 'nonsense', token.slice(1), gone, mine.public, '%']) {
    const replies = [get(wrong), post(`${wrong}/subscribe`), post(`${wrong}/unsubscribe`)]
    for (const { status, body } of await Promise.all(replies)) {
      assert.equal(status, 404, wrong)
      assert.equal(body.error.code, 'RESOURCE_NOT_FOUND')
      assert.equal(body.success, false)
    }
  }
  const keyed = await get(contactId).set('Authorization', `Bearer ${mine.secret}`)
  assert.equal(keyed.status, 404)
  assert.equal((await get(`${token}/unsubscribe`)).status, 405)
  assert.equal((await get(token)).body.subscribed, true)
  assert.equal(await service.core.store.read.$count(events), count)
})
