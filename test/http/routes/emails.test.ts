import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { addCampaign } from '../../features/outreach/campaigns/sending/campaign.ts'
import { setEmails } from '../../set-emails.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
})

async function send(to = 'ada@dest.test'): Promise<string> {
  const content = { to, from: 'a@shop.test', subject: 'Hi', body: '<p>Hi</p>' }
  const { body } = await call('post', '/v1/send').send(content)
  return body.data.emails[0].email
}

const setEmail = (id: string, change: Partial<typeof emails.$inferInsert>) =>
  service.core.store.write((tx) => setEmails(tx, change, eq(emails.id, id)))

test('emails of another project, and unknown ones, are not found', async () => {
  const id = await send()
  for (const key of [id, newId()]) {
    const by = key === id ? other : mine
    const answers = [
      await call('get', `/emails/${key}`, by),
      await call('get', `/emails/${key}/raw`, by),
      await call('post', `/emails/${key}/cancel`, by),
      await call('post', `/emails/${key}/retry`, by),
    ]
    for (const { status } of answers) assert.equal(status, 404)
  }
  const { body } = await call('get', '/emails', other)
  assert.deepEqual(body.data, [])
  assert.equal((await call('get', `/emails/${id}`)).body.state, 'queued')
})

test('S20: mail of the server to its users is shown to nobody: its links choose passwords', async () => {
  const id = await send()
  assert.match((await call('get', `/emails/${id}`)).body.body, /Hi/)
  await setEmail(id, { isPlatform: true, variables: null, sealedVariables: 'sealed' })
  const { status, body } = await call('get', `/emails/${id}`)
  assert.deepEqual([status, body.subject, body.body, body.text], [200, 'Hi', null, null])
  const raw = await call('get', `/emails/${id}/raw`)
  assert.deepEqual([raw.status, raw.body.error.code], [403, 'FORBIDDEN'])
})

test('what is not of the declared shape is refused with 422', async () => {
  const queries = [
    'status=SENT,GONE',
    'source=PIGEON',
    'domain=not a domain',
    'contactId=5',
    'campaignId=x',
    'contactId=',
    'campaignId=',
    'templateId=',
    'templateId=x',
    'startDate=yesterday',
    'limit=0',
    'cursor=garbage',
  ]
  for (const query of queries) {
    const { status, body } = await call('get', `/emails?${query}`)
    assert.deepEqual([status, body.error?.code], [422, 'VALIDATION_ERROR'], query)
  }
  assert.equal((await call('get', '/emails/not-a-uuid')).status, 422)
  const any = await call('get', '/emails?status=&source=&search=&domain=&startDate=&endDate=')
  assert.equal(any.status, 200, 'an empty value counts as absent')
})

test('an email is cancelled and tried again only where that has a meaning', async () => {
  const id = await send()
  const cancelled = await call('post', `/emails/${id}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'FAILED'])
  assert.equal((await call('post', `/emails/${id}/cancel`)).status, 409)
  const retried = await call('post', `/emails/${id}/retry`)
  assert.deepEqual([retried.status, retried.body.status], [200, 'PENDING'])
  await setEmail(id, { state: 'delivered', status: 'DELIVERED', dueAt: null })
  assert.equal((await call('post', `/emails/${id}/retry`)).status, 409)
  const campaignId = await addCampaign(service.core, mine.id, { status: 'CANCELLED' })
  await setEmail(id, { state: 'failed', status: 'FAILED', campaignId })
  assert.equal((await call('post', `/emails/${id}/retry`)).status, 409)
})

test('markup in what a remote server said stays text that no browser runs', async () => {
  const id = await send('eve@dest.test')
  const error = '550 <script>alert(1)</script>'
  const campaignId = await addCampaign(service.core, mine.id, { status: 'SENT' })
  const ended = { state: 'bounced', status: 'BOUNCED', dueAt: null, bouncedAt: 1 } as const
  await setEmail(id, { ...ended, error, campaignId })
  const paths = [`/emails/${id}`, '/emails', `/campaigns/${campaignId}/recipients?outcome=bounced`]
  for (const path of paths) {
    const { headers, text } = await call('get', path)
    assert.ok(text.includes('<script>'), path)
    assert.match(headers['content-type'] ?? '', /^application\/json/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/)
  }
  for (const path of [`/emails/${id}/raw`, `/campaigns/${campaignId}/recipients/export`]) {
    const { headers } = await call('get', path)
    assert.match(headers['content-disposition'] ?? '', /^attachment;/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

test('figures of campaigns of other projects are not found, and bad outcomes are refused', async () => {
  const id = await addCampaign(service.core, mine.id)
  for (const path of ['stats', 'recipients', 'recipients/export', 'links', 'audience']) {
    assert.equal((await call('get', `/campaigns/${id}/${path}`, other)).status, 404, path)
    assert.equal((await call('get', `/campaigns/${id}/${path}`)).status, 200, path)
  }
  assert.equal((await call('post', `/campaigns/${id}/check`, other)).status, 404)
  for (const query of ['outcome=lost', 'outcome=failed&type=opened', 'cursor=x', 'limit=x']) {
    assert.equal((await call('get', `/campaigns/${id}/recipients?${query}`)).status, 422, query)
  }
  const both = await call('get', `/campaigns/${id}/recipients?outcome=failed&type=failed`)
  assert.deepEqual(
    [both.status, both.body],
    [200, { data: [], cursor: null, hasMore: false, total: 0 }],
  )
  const misspelt = await call('get', `/campaigns/${id}/recipients/export?outcom=x`)
  const [{ field, code }] = misspelt.body.error.errors
  assert.deepEqual([misspelt.status, field, code], [422, 'outcom', 'unrecognized'])
})

test('a parameter that the list does not have is named, with the one that was meant', async () => {
  const { status, body } = await call('get', '/emails?to=jon@example.org&per_page=5&limit=1')
  assert.equal(status, 200)
  const message = 'There is no such parameter, so it was ignored; did you mean'
  assert.deepEqual(body.warnings, [
    { field: 'to', message: `${message} search?`, suggestion: 'search' },
    { field: 'per_page', message: `${message} limit?`, suggestion: 'limit' },
  ])
  const strict = await call('get', '/emails?to=jon@example.org').set('Prefer', 'handling=strict')
  assert.equal(strict.status, 422)
  assert.equal(strict.body.error.message, 'to: there is no such parameter; did you mean search?')
})

test('an email with warnings of its own has those of the request before them, in one list', async () => {
  const id = await send()
  const warnings = ['A part was left out']
  await service.core.store.write((tx) => tx.update(contents).set({ warnings }))
  const { text, body } = await call('get', `/emails/${id}?expand=events`)
  assert.equal(text.split('"warnings":').length, 2)
  const [told, own, ...others] = body.warnings
  assert.equal(told, 'expand: There is no such parameter, so it was ignored')
  assert.deepEqual([own, others], ['A part was left out', []])
})
