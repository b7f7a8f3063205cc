import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadEmails, loadTexts, toSource } from '../../../src/features/messages/source.ts'
import type { Email } from '../../../src/store/schema.ts'
import { emails } from '../../../src/store/schema.ts'
import { type Desk, openDesk } from './desk.ts'

async function sourceOf(desk: Desk, body: string, contentClass: Email['contentClass']) {
  const { emails: accepted } = await desk.send({ body })
  await desk.core.store.write((tx) => tx.update(emails).set({ contentClass }))
  const [email] = await loadEmails(desk.core, [accepted[0]?.email as string])
  if (email === undefined) throw new Error('the email is gone')
  const texts = await loadTexts(desk.core, [email.contentId])
  const content = texts.get(email.contentId)
  if (content === undefined) throw new Error('its content is gone')
  return toSource(desk.core, { email, language: email.language, content })
}

test('texts come without attachments, and once each', async (t) => {
  const desk = await openDesk(t)
  const file = { filename: 'a.bin', contentType: 'a/b', contentId: null } as const
  const attachments = [{ ...file, disposition: 'attachment', content: 'aGk=' } as const]
  const { emails: accepted } = await desk.send({ body: '\u00e4', attachments })
  const { contentId } = await desk.email(accepted[0]?.email as string)
  const texts = await loadTexts(desk.core, [contentId, contentId, 'none'])
  assert.equal(texts.size, 1)
  assert.equal(texts.get(contentId)?.body, '\u00e4')
  assert.deepEqual(texts.get(contentId)?.attachments, [])
})

test('a content that may name the pages gets their signed addresses', async (t) => {
  const desk = await openDesk(t)
  const bodies = ['{{ unsubscribeUrl }}', '{{ [name] }}', '{% if manageUrl %}x{% endif %}']
  for (const body of [...bodies, '{{ unsubscribe&#85;rl }}', '{{ "x" | group_by_exp: "i", k }}']) {
    const { variables, preferenceUrls, oneClickUrl } = await sourceOf(desk, body, 'TRANSACTIONAL')
    const { unsubscribeUrl, subscribeUrl, manageUrl } = variables.system
    assert.match(String(subscribeUrl), /^https:\/\/mail\.example\.test\/subscribe\/[a-z2-7]{68}$/)
    assert.deepEqual(preferenceUrls, [unsubscribeUrl, manageUrl])
    assert.equal(oneClickUrl, unsubscribeUrl)
  }
})

test('marketing always offers them, a transactional content that names none never', async (t) => {
  const desk = await openDesk(t)
  const marketing = await sourceOf(desk, '<p>Hello</p>', 'MARKETING')
  assert.match(String(marketing.oneClickUrl), /^https:\/\/mail\.example\.test\/unsubscribe\//)
  const plain = await sourceOf(desk, '<p>Hello {{ name }}</p>', 'TRANSACTIONAL')
  assert.equal(plain.oneClickUrl, null)
  assert.deepEqual(plain.preferenceUrls, [])
  assert.deepEqual(
    Object.keys(plain.variables.system).filter((name) => name.endsWith('Url')),
    [],
  )
})
