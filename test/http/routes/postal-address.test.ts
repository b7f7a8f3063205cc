/** The postal address of a project: in the footer of its marketing mail, and as a variable. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
})

const ADDRESS = 'Pots & <Pans>, 1 Main Street'

const setAddress = (postalAddress: string | null) =>
  updateProject(service.core, mine.id, { postalAddress })

async function render(body: string, type: string) {
  const shown = await call('post', '/render').send({ subject: 'S', body, type })
  assert.equal(shown.status, 200)
  return shown.body
}

test('the footer of marketing mail has the address, and no other mail has', async () => {
  const before = await render('<p>Hi</p>', 'MARKETING')
  await setAddress(ADDRESS)
  const { html, text } = await render('<p>Hi</p>', 'MARKETING')
  assert.match(html, /<\/a><br>\nPots &amp; &lt;Pans&gt;, 1 Main Street<\/p>/)
  assert.match(text, /\nPots & <Pans>, 1 Main Street$/)
  assert.doesNotMatch((await render('<p>Hi</p>', 'TRANSACTIONAL')).html, /Main Street/)
  await setAddress(null)
  assert.deepEqual(await render('<p>Hi</p>', 'MARKETING'), before)
})

test('a template may name the address; without one the variable is what others give it', async () => {
  await setAddress(ADDRESS)
  const body = '<p>{{ postalAddress ?? none }}</p>'
  assert.match((await render(body, 'TRANSACTIONAL')).html, /<p>Pots &amp; &lt;Pans&gt;, 1 Main/)
  await setAddress(null)
  assert.match((await render(body, 'TRANSACTIONAL')).html, /<p>none<\/p>/)
})

test('mail that is sent has the address of its project', async () => {
  await setAddress(ADDRESS)
  const template = await call('post', '/templates').send({
    ...{ name: 'News', type: 'MARKETING', from: 'hello@example.test' },
    ...{ subject: 'S', body: '<p>Hi</p>' },
  })
  const to = 'ann@example.net'
  const sent = await call('post', '/v1/send').send({
    to,
    subscribed: true,
    template: template.body.id,
  })
  assert.equal(sent.status, 200, sent.text)
  const id = sent.body.data.emails[0].email
  const shown = await call('get', `/emails/${id}`)
  assert.match(shown.body.body, /Pots &amp; &lt;Pans&gt;, 1 Main Street/)
  const raw = (await call('get', `/emails/${id}/raw`).buffer(true)).text
  assert.equal(raw.match(/1 Main\s+Street/g)?.length, 2)
})

test('an address is one line of at most 250 characters, and blanks are none', async () => {
  for (const wrong of ['two\nlines', 'x'.repeat(251), '\ud800']) {
    await assert.rejects(setAddress(wrong), { code: 'VALIDATION_ERROR' })
  }
  assert.equal((await setAddress(' 1 Main Street ')).postalAddress, '1 Main Street')
  assert.equal((await setAddress('  ')).postalAddress, null)
})
