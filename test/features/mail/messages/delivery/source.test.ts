import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  loadEmails,
  loadTexts,
  toSource,
} from '../../../../../src/features/mail/messages/delivery/source.ts'
import { readUnsubscribeLocalPart } from '../../../../../src/formats/signed-tokens.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import type { Email } from '../../../../../src/store/schema/messages.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { address } from '../../../../core.ts'
import { openSender, type Sender } from '../sender.ts'

async function sourceOf(
  sender: Sender,
  body: string,
  contentClass: Email['contentClass'],
  request: Parameters<Sender['send']>[0] = {},
) {
  const { emails: accepted } = await sender.send({ body, ...request })
  await sender.core.store.write((tx) => tx.update(emails).set({ contentClass }))
  const [email] = await loadEmails(sender.core, [accepted[0]?.email as string])
  if (email === undefined) throw new Error('the email is gone')
  const texts = await loadTexts(sender.core, [email.contentId])
  const content = texts.get(email.contentId)
  if (content === undefined) throw new Error('its content is gone')
  const { projectName: name, language, postalAddress } = email
  const project = { name, language, postalAddress }
  const returnPath = { token: 'token', domain: 'bounce.example.test' }
  return toSource(sender.core, { email, project, content, returnPath })
}

test('each email is loaded once, with the state of its own contact', async (t) => {
  const sender = await openSender(t)
  const to = ['ada@dest.test', 'bob@dest.test'].map((text) => ({
    address: address(text),
    name: null,
  }))
  const { emails: accepted } = await sender.send({ to })
  const [ada = '', bob = ''] = accepted.map(({ email }) => email)
  await sender.core.store.write((tx) =>
    tx.update(contacts).set({ subscribed: true }).where(eq(contacts.address, 'bob@dest.test')),
  )
  const loaded = await loadEmails(sender.core, [ada, bob])
  assert.deepEqual(
    loaded.map(({ id, isSubscribed }) => [id, isSubscribed]).sort(),
    [
      [ada, false],
      [bob, true],
    ].sort(),
  )
})

test('texts are loaded without attachments, and once each', async (t) => {
  const sender = await openSender(t)
  const file = { filename: 'a.bin', contentType: 'a/b', contentId: null } as const
  const attachments = [{ ...file, disposition: 'attachment', content: 'aGk=' } as const]
  const { emails: accepted } = await sender.send({ body: '\u00e4', attachments })
  const { contentId } = await sender.email(accepted[0]?.email as string)
  const texts = await loadTexts(sender.core, [contentId, contentId, 'none'])
  assert.equal(texts.size, 1)
  assert.equal(texts.get(contentId)?.body, '\u00e4')
  assert.deepEqual(texts.get(contentId)?.attachments, [])
})

test('a content that may refer to the hosted pages gets their signed URLs', async (t) => {
  const sender = await openSender(t)
  const bodies = ['{{ unsubscribeUrl }}', '{{ [name] }}', '{% if manageUrl %}x{% endif %}']
  for (const body of [...bodies, '{{ unsubscribe&#85;rl }}', '{{ "x" | group_by_exp: "i", k }}']) {
    const { variables, preferenceUrls, oneClickUrl } = await sourceOf(sender, body, 'TRANSACTIONAL')
    const { unsubscribeUrl, subscribeUrl, manageUrl } = variables.system
    assert.match(String(subscribeUrl), /^https:\/\/mail\.example\.test\/subscribe\/[a-z2-7]{84}$/)
    assert.deepEqual(preferenceUrls, [unsubscribeUrl, manageUrl])
    assert.equal(oneClickUrl, unsubscribeUrl)
  }
})

test('List-Unsubscribe has a mailbox where the server receives mail, beside the URL', async (t) => {
  const sender = await openSender(t)
  const closed = await sourceOf(sender, '{{ unsubscribeUrl }}', 'TRANSACTIONAL')
  assert.equal(closed.unsubscribeMailbox, null)
  const listen = [{ host: '127.0.0.1', port: 25, isTls: false }]
  sender.core.config = { ...sender.core.config, inbound: { ...sender.core.config.inbound, listen } }
  const open = await sourceOf(sender, '{{ unsubscribeUrl }}', 'TRANSACTIONAL')
  const [localPart = '', domain] = open.unsubscribeMailbox?.split('@') ?? []
  const keys = sender.core.keyring.keys('mail-in-unsubscribe')
  assert.equal(readUnsubscribeLocalPart(keys, localPart)?.emailId, open.emailId)
  assert.equal(domain, 'bounce.example.test')
  const plain = await sourceOf(sender, '<p>Hello</p>', 'TRANSACTIONAL')
  assert.equal(plain.unsubscribeMailbox, null)
})

test('only marketing has a footer, in the language of its contact', async (t) => {
  const sender = await openSender(t)
  for (const contentClass of ['TRANSACTIONAL', 'HEADLESS'] as const) {
    assert.equal((await sourceOf(sender, '{{ unsubscribeUrl }}', contentClass)).footer, null)
  }
  const { footer, variables } = await sourceOf(sender, '<p>Hello</p>', 'MARKETING')
  const url = variables.system.unsubscribeUrl
  assert.deepEqual(footer, { language: 'en', projectName: 'Shop', url, postalAddress: null })
  const spoken: [locale: string, project: string, language: string][] = [
    ['pt-BR', 'de', 'pt'],
    ['zh-Hant-HK', 'de', 'zh-HK'],
    ['xx', 'de-AT', 'de'],
    ['xx', 'yy', 'en'],
  ]
  for (const [locale, language, expected] of spoken) {
    await sender.core.store.write((tx) => tx.update(projects).set({ language }))
    const source = await sourceOf(sender, '<p>Hello</p>', 'MARKETING', { data: { locale } })
    assert.equal(source.footer?.language, expected, locale)
  }
})

test('the Feedback-ID differs for marketing and other mail', async (t) => {
  const sender = await openSender(t)
  const idOf = async (contentClass: Email['contentClass']) =>
    (await sourceOf(sender, '<p>Hello</p>', contentClass)).feedbackId
  const { id } = sender.project
  assert.equal(await idOf('TRANSACTIONAL'), `direct:${id}:transactional:pillarbox`)
  assert.equal(await idOf('HEADLESS'), `direct:${id}:transactional:pillarbox`)
  assert.equal(await idOf('MARKETING'), `direct:${id}:marketing:pillarbox`)
})

test('a separate text part comes with the body, and may refer to the hosted pages', async (t) => {
  const sender = await openSender(t)
  const text = 'Leave: {{ unsubscribeUrl }}'
  const source = await sourceOf(sender, '<p>Hello</p>', 'TRANSACTIONAL', { text })
  assert.equal(source.content.text, text)
  assert.match(String(source.variables.system.unsubscribeUrl), /\/unsubscribe\//)
  assert.equal((await sourceOf(sender, '<p>Hello</p>', 'TRANSACTIONAL')).content.text, null)
})

test('tracking follows the row of the email', async (t) => {
  const sender = await openSender(t)
  for (const tracking of [true, false]) {
    const source = await sourceOf(sender, '<p>Hello</p>', 'TRANSACTIONAL', { tracking })
    assert.equal(source.isTracked, tracking)
  }
})

test('marketing always has an unsubscribe URL, transactional mail only if its content refers to one', async (t) => {
  const sender = await openSender(t)
  const marketing = await sourceOf(sender, '<p>Hello</p>', 'MARKETING')
  assert.match(String(marketing.oneClickUrl), /^https:\/\/mail\.example\.test\/unsubscribe\//)
  const plain = await sourceOf(sender, '<p>Hello {{ name }}</p>', 'TRANSACTIONAL')
  assert.equal(plain.oneClickUrl, null)
  assert.deepEqual(plain.preferenceUrls, [])
  assert.deepEqual(
    Object.keys(plain.variables.system).filter((name) => name.endsWith('Url')),
    [],
  )
})

test('header fields that control a smarthost are removed from relayed mail only', async (t) => {
  const sender = await openSender(t)
  const harmless = { 'X-Campaign': 'spring', 'Disposition-Notification-To': 'me@example.test' }
  const steering = {
    'X-SMTPAPI': '{"to":["eve@other.test"]}',
    'x-mc-Track': 'opens',
    'X-SES-SOURCE-ARN': 'arn',
    'X-Mailgun-Variables': '{}',
    'X-PM-Message-Stream': 'outbound',
    'X-MSYS-API': '{}',
    'X-MJ-CustomID': '1',
    'X-Mailin-Tag': '1',
    'sender.ip': '192.0.2.1',
    'Errors-To': 'eve@other.test',
    'Return-Receipt-To': 'eve@other.test',
  }
  const headers = { ...steering, ...harmless }
  assert.deepEqual((await sourceOf(sender, 'x', 'TRANSACTIONAL', { headers })).headers, headers)
  const delivery = { ...sender.core.config.delivery, mode: 'relay' } as const
  sender.core.config = { ...sender.core.config, delivery }
  assert.deepEqual((await sourceOf(sender, 'x', 'TRANSACTIONAL', { headers })).headers, harmless)
})
