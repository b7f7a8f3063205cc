import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import {
  loadEmails,
  loadTexts,
  toRenderSource,
} from '../../../src/features/mail/messages/delivery/source.ts'
import { readPageToken } from '../../../src/formats/signed-tokens.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { type TestProject, trustDomain } from '../../core.ts'
import { addCampaign } from '../../features/outreach/campaigns/sending/campaign.ts'
import { addRecipient, subscriptionEvents } from '../../features/people/contacts/add-recipient.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine, other }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  await trustDomain(service.core, other.id, 'other.test')
})

const render = (body: object, by: TestProject = mine) => call('post', '/render', by).send(body)
const text = { subject: 'Hi {{ name }}', body: '<p>Dear {{ name }}</p>' }

const PAGE_URL = /\/(unsubscribe|subscribe|manage)\/([a-z2-7]{68,84})/g

async function makeTemplate(change: object = {}, by: TestProject = mine): Promise<string> {
  const from = by === mine ? 'a@example.test' : 'a@other.test'
  const template = { name: 'Welcome', from, ...text, ...change }
  const { body } = await call('post', '/templates', by).send(template)
  return body.id
}

async function makeContact(data: Record<string, unknown> = {}, projectId = mine.id) {
  return (await addRecipient(service.core, { projectId, data })).contactId
}

/** The numbers of rows that a preview must not change. */
async function countRows() {
  const { read } = service.core.store
  const tables = [emails, contents, contacts, events]
  return Promise.all(tables.map((table) => read.$count(table)))
}

test('a text is rendered with its data, wrapper and footer, and nothing is stored', async () => {
  const before = await countRows()
  const { status, body } = await render({ ...text, data: { name: 'Ann' } })
  assert.equal(status, 200)
  const names = ['html', 'sizeBytes', 'subject', 'text', 'unknownFields', 'warnings']
  assert.deepEqual(Object.keys(body).sort(), names)
  assert.equal(body.subject, 'Hi Ann')
  assert.match(body.html, /^<!doctype html>[\s\S]*<p>Dear Ann<\/p>[\s\S]*\/unsubscribe\//i)
  assert.match(body.text, /^Dear Ann\n/)
  assert.equal(body.sizeBytes, Buffer.byteLength(body.html))
  assert.deepEqual(body.warnings, [])
  assert.deepEqual(await countRows(), before)
})

test('a preview is what a send of the same template and data renders', async () => {
  const body = `<p>{{ name }} {{ plan ?? free }} {{ email }} {{ id }} {{ subscribed }} {{ locale }}
    {{ manageUrl }}</p><a href="https://shop.test/a?b=1&amp;c=2">{{ data.name }}</a>`
  const template = await makeTemplate({ body, type: 'HEADLESS' })
  const contactId = await makeContact({ name: '<b>Ada</b>', plan: 'pro', locale: 'de' })
  const { body: contact } = await call('get', `/contacts/${contactId}`)
  const data = { plan: null, once: { value: 'x', persistent: false } }
  const preview = await render({ templateId: template, contactId, data })
  const sent = await call('post', '/v1/send').send({ to: contact.email, template, data })
  const [email] = await loadEmails(service.core, [sent.body.data.emails[0].email])
  assert.ok(email)
  const content = (await loadTexts(service.core, [email.contentId])).get(email.contentId)
  assert.ok(content)
  const { projectName: name, language, postalAddress } = email
  const project = { name, language, postalAddress }
  const source = toRenderSource(service.core, { email, project, content })
  const [expected] = await service.core.outbound.preview([source])
  const unsigned = (html: string) => html.replaceAll(PAGE_URL, '/$1/token')
  assert.equal(unsigned(preview.body.html), unsigned(expected?.html ?? ''))
  assert.equal(unsigned(preview.body.text), unsigned(expected?.text ?? ''))
  assert.equal(preview.body.subject, expected?.subject)
  assert.match(preview.body.html, /&lt;b&gt;Ada&lt;\/b&gt; free/)
})

test('page links are signed for nobody, so that a preview unsubscribes no one', async () => {
  const contactId = await makeContact()
  const before = await subscriptionEvents(service.core)
  const body = '<p>{{ unsubscribeUrl }} {{ subscribeUrl }} {{ manageUrl }}</p>'
  const { body: preview } = await render({ subject: 'Hi', body, contactId })
  const keys = service.core.keyring.keys('page')
  const links = [...preview.html.matchAll(PAGE_URL)]
  assert.equal(links.length, 4)
  for (const [path, , token] of links) {
    const page = readPageToken(keys, token)
    assert.deepEqual(page, { contactId: undefined, emailId: undefined, digest: undefined })
    const shown = await supertest(service.url).get(path)
    assert.ok(shown.status >= 200 && shown.status < 500, `${shown.status}`)
    const act = supertest(service.url).post(path).type('form')
    assert.ok((await act.send('List-Unsubscribe=One-Click')).status < 500)
  }
  assert.deepEqual(await subscriptionEvents(service.core), before)
  const { body: contact } = await call('get', `/contacts/${contactId}`)
  assert.equal(contact.subscribed, true)
})

test('links are not tracked', async () => {
  const { body } = await render({ subject: 'Hi', body: '<a href="https://shop.test/a">Shop</a>' })
  assert.match(body.html, /<a href="https:\/\/shop\.test\/a">/)
  assert.doesNotMatch(body.html, /\/t\/[co]\//)
})

test('only marketing has a footer; a type in the request replaces that of the template', async () => {
  const templateId = await makeTemplate({ type: 'TRANSACTIONAL' })
  const footers = [
    await render({ templateId }),
    await render({ templateId, type: 'MARKETING' }),
    await render({ ...text, type: 'HEADLESS' }),
    await render(text),
  ].map(({ body }) => /\/unsubscribe\//.test(body.html))
  assert.deepEqual(footers, [false, true, false, true])
})

test('a campaign is rendered, with a subject of the request in place of its own', async () => {
  const campaignId = await addCampaign(service.core, mine.id, { type: 'HEADLESS' })
  const contactId = await makeContact({ name: 'Ada' })
  const { body } = await render({ campaignId, contactId })
  assert.deepEqual([body.subject, /<p>Hello Ada<\/p>/.test(body.html)], ['Hi Ada', true])
  const renamed = await render({ campaignId, contactId, subject: 'Dear {{ name }}' })
  assert.deepEqual([renamed.status, renamed.body.subject], [200, 'Dear Ada'])
})

test('values of the contact are escaped in HTML, as in a send, and never read as templates', async () => {
  const name = '<img src=x onerror=alert(1)>{{ email }}'
  const contactId = await makeContact({ name })
  const { body } = await render({ ...text, contactId })
  assert.equal(body.subject, `Hi ${name}`)
  assert.match(body.html, /Dear &lt;img src=x onerror=alert\(1\)&gt;\{\{ email \}\}/)
  assert.doesNotMatch(body.html, /<img/)
})

test('line breaks in data do not reach the subject', async () => {
  const { body } = await render({ ...text, data: { name: 'Ann\r\nBcc: eve@evil.test' } })
  assert.equal(body.subject, 'Hi Ann Bcc: eve@evil.test')
})

test('without a contact the variables of Pillarbox belong to nobody', async () => {
  const body = '<p>{{ id }}|{{ email }}|{{ subscribed }}|{{ name }}|</p>'
  const answer = await render({ subject: 'Hi', body })
  const nobody = '00000000-0000-0000-0000-000000000000|recipient@example.com|true||'
  assert.ok(answer.body.html.includes(nobody))
})

test('a template that exceeds its limits shows what the email would hold, with a warning', async () => {
  const body = '<p>{{ name }}{% for i in (1..90000000) %}x{% endfor %}</p>'
  const answer = await render({ subject: 'Hi', body, data: { name: 'Ann' } })
  assert.equal(answer.status, 200)
  assert.match(answer.body.html, /Ann/)
  assert.match(answer.body.warnings[0], /^The body has a fault in line 1, column 14: /)
})

test('unknown fields are warned of', async () => {
  const { status, body } = await render({ ...text, variables: { name: 'Ann' } })
  assert.equal(status, 200)
  assert.deepEqual(body.warnings, ['"variables": unknown field, ignored; did you mean "data"?'])
  const message = 'There is no such field, so it was ignored; did you mean data?'
  assert.deepEqual(body.unknownFields, [{ field: 'variables', message, suggestion: 'data' }])
})

test('every name that nothing reads is in the one list of warnings', async () => {
  const sent = JSON.stringify({ ...text, variables: {} }).replace('{', '{"__proto__":1,')
  const answer = await call('post', '/render?contact=1')
    .set('Content-Type', 'application/json')
    .send(sent)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.text.split('"warnings":').length, 2)
  assert.deepEqual(
    answer.body.unknownFields.map(({ field }: { field: string }) => field),
    ['__proto__', 'contact', 'variables'],
  )
  assert.deepEqual(answer.body.warnings, [
    '"__proto__": unknown field, ignored',
    'contact: There is no such parameter, so it was ignored',
    '"variables": unknown field, ignored; did you mean "data"?',
  ])
  assert.match(service.requests.at(-1)?.errorMessage ?? '', /__proto__/)
})

test('a message that cannot be rendered at all is refused', async (t) => {
  const { outbound } = service.core
  t.mock.method(outbound, 'preview', async () => [null])
  const { status, body } = await render(text)
  assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
})

test('template syntax is refused with line and column', async () => {
  const { status, body } = await render({ subject: 'Hi', body: '<p>\n{{ name | shout }}</p>' })
  assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
  assert.deepEqual(body.error.details, { field: 'body', line: 2, column: 1 })
  const subject = await render({ campaignId: newId(), subject: '{% if %}' })
  assert.deepEqual([subject.status, subject.body.error.details.field], [400, 'subject'])
})

const wrong: [string, () => object | Promise<object>, string][] = [
  ['nothing', () => ({}), 'body custom'],
  ['a subject alone', () => ({ subject: 'Hi' }), 'body custom'],
  ['a body without a subject', () => ({ body: 'x' }), 'subject required'],
  ['a body and a template', () => ({ ...text, templateId: newId() }), 'body custom'],
  [
    'a template and a campaign',
    () => ({ templateId: newId(), campaignId: newId() }),
    'body custom',
  ],
  ['an empty body', () => ({ ...text, body: '' }), 'body too_small'],
  [
    'a line break in the subject',
    () => ({ ...text, subject: 'a\r\nBcc: b' }),
    'subject invalid_string',
  ],
  ['a long subject', () => ({ ...text, subject: 'x'.repeat(999) }), 'subject too_big'],
  ['a long body', () => ({ ...text, body: 'x'.repeat(2_000_001) }), 'body too_big'],
  ['too many placeholders', () => ({ ...text, body: '{{a}}'.repeat(20_001) }), 'body too_big'],
  ['an unknown type', () => ({ ...text, type: 'SPAM' }), 'type invalid_enum_value'],
  ['a template id that is none', () => ({ templateId: 'x' }), 'templateId invalid_string'],
  ['a contact id that is none', () => ({ ...text, contactId: 'x' }), 'contactId invalid_string'],
  ['too much data', () => ({ ...text, data: { a: 'x'.repeat(64 * 1024) } }), 'data too_big'],
  [
    'a locale that is no text',
    () => ({ ...text, data: { locale: 1 } }),
    'data.locale invalid_type',
  ],
  ['a list', () => [], ' invalid_type'],
]

for (const [name, make, expected] of wrong) {
  test(`${name} is refused with 422`, async () => {
    const { status, body } = await render(await make())
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
    const found = body.error.errors.map(
      (each: Record<string, string>) => `${each.field} ${each.code}`,
    )
    assert.deepEqual(found, [expected])
  })
}

test('data of just 64 KB is rendered', async () => {
  const name = 'x'.repeat(64 * 1024 - '{"name":""}'.length)
  const { status, body } = await render({ subject: 'Hi', body: '{{ name }}', data: { name } })
  assert.deepEqual([status, body.html.includes(name)], [200, true])
})

test('ids of another project, and unknown ones, are not found', async () => {
  const theirTemplate = await makeTemplate({}, other)
  const theirCampaign = await addCampaign(service.core, other.id)
  const theirContact = await makeContact({}, other.id)
  const cases: [object, string][] = [
    [{ templateId: theirTemplate }, 'TEMPLATE_NOT_FOUND'],
    [{ templateId: newId() }, 'TEMPLATE_NOT_FOUND'],
    [{ campaignId: theirCampaign }, 'CAMPAIGN_NOT_FOUND'],
    [{ campaignId: newId() }, 'CAMPAIGN_NOT_FOUND'],
    [{ ...text, contactId: theirContact }, 'CONTACT_NOT_FOUND'],
    [{ ...text, contactId: newId() }, 'CONTACT_NOT_FOUND'],
  ]
  for (const [request, code] of cases) {
    const { status, body } = await render(request)
    assert.deepEqual([status, body.error.code], [404, code])
  }
})

test('malformed JSON is refused with 400, a public key with 401 or 403', async () => {
  const malformed = await call('post', '/render').type('json').send('{"subject":')
  assert.deepEqual([malformed.status, malformed.body.error.code], [400, 'VALIDATION_ERROR'])
  const byPublicKey = await call('post', '/render', { secret: mine.public }).send(text)
  assert.ok([401, 403].includes(byPublicKey.status), `${byPublicKey.status}`)
})

test('a slip in a variable with a fallback is warned of, if no contact has it', async () => {
  const contactId = await makeContact({ vorname: 'Ada' })
  await makeContact({ vornamen: 'Eve' })
  const body =
    '<p>{{ vornmae ?? you }}{{ vornamen ?? you }}{% if Vorname %}{% endif %}{{ code ?? x }}{{ zzz ?? x }}</p>'
  const { body: preview } = await render({ subject: 'Hi', body, contactId })
  assert.deepEqual(preview.warnings, [
    'No contact has a value for {{vornmae}}. Did you mean {{vorname}}?',
    'No contact has a value for {{Vorname}}. Did you mean {{vorname}}?',
  ])
})

test('a slip is found behind many variables that other contacts have', async () => {
  const contactId = await makeContact({ vorname: 'Ada' })
  const names = Array.from({ length: 30 }, (_, at) => `filled${at}`)
  await makeContact(Object.fromEntries(names.map((name) => [name, 'x'])))
  const guarded = [...names, 'vornmae'].map((name) => `{{ ${name} ?? x }}`).join('')
  const { body: preview } = await render({ subject: 'Hi', body: `<p>${guarded}</p>`, contactId })
  assert.deepEqual(preview.warnings, [
    'No contact has a value for {{vornmae}}. Did you mean {{vorname}}?',
  ])
})

test('placeholders of other services are warned of, unless the data has them', async () => {
  const contactId = await makeContact({ vorname: 'Ada' })
  const body = '<p>*|FNAME|* {{ UnsubscribeURL }} {{ end }}</p>'
  const warnings = async (request: object) =>
    (await render({ subject: 'Hi', body, ...request })).body.warnings
  const [name, link, ...others] = await warnings({ contactId })
  assert.match(name, /^\{\{ UnsubscribeURL \}\} is a placeholder of listmonk, .* unsubscribeUrl/)
  assert.match(link, /^\*\|FNAME\|\* is a placeholder of Mailchimp/)
  assert.deepEqual(others, ['The contact has no value for {{end}}.'])
  const data = { UnsubscribeURL: 'https://shop.test/', end: '5 pm' }
  assert.equal((await warnings({ contactId, data })).length, 1)
  const filtered = '<p>{{ UnsubscribeURL | upcase }} {{ UnsubscribeURL ?? x }}</p>'
  assert.deepEqual(await warnings({ contactId, data, body: filtered }), [])
  const refused = await render({ subject: 'Hi', body: '<p>{{ if vorname }}A{{ end }}</p>' })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.errors[0].message, /^Line 1, column 4: .*\{% if vorname %\}/)
})

test('a contact that lacks a variable is warned of, with the one that may be meant', async () => {
  const contactId = await makeContact({ vorname: 'Ada', empty: '' })
  const body =
    '<p>{{ Vorname }} {{ vorname }} {{ empty }} {{ code }} {{ zzz ?? there }} {{ email }}' +
    '{{ contact.email }} {{ contact.vorname }} {{ contact.data.missing }}</p>'
  const { body: preview } = await render({ subject: 'Hi', body, contactId, data: { code: 'A' } })
  assert.deepEqual(preview.warnings, [
    'The contact has no value for {{Vorname}}. Did you mean {{vorname}}?',
    'The contact has no value for {{empty}}.',
    'The contact has no value for {{missing}}.',
  ])
  const data = { code: 'A', contact: { missing: 'x' } }
  const { body: own } = await render({ subject: 'Hi', body, contactId, data })
  assert.equal(own.warnings.length, 2)
  const { body: general } = await render({ subject: 'Hi', body })
  assert.deepEqual(general.warnings, [])
})
