/**
 * What the published clients of the API family send: @plunk/node 1.1.1 to 3.0.3. The newest one runs here; the
 * requests of the older ones, whose address of the server is fixed, are as they make them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Plunk from '@plunk/node'
import { desc, eq } from 'drizzle-orm'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine } = useService({}, ({ service, mine }) =>
  trustDomain(service.core, mine.id, 'example.test'),
)

const message = {
  to: 'ada@example.net',
  subject: 'Hi',
  body: '<p>x</p>',
  from: 'hello@example.test',
}

/** 1.x is built on axios, 2.x on a fetch of its own; both have the same fields. */
const versions: [string, Record<string, string>][] = [
  ['1.1.1', { accept: 'application/json, text/plain, */*', 'user-agent': 'axios/0.27.2' }],
  ['2.1.0', {}],
]

for (const [version, headers] of versions) {
  test(`@plunk/node ${version} sends and tracks as it always did`, async () => {
    const post = async (path: string, body: object) => {
      const authorization = `Bearer ${mine.secret}`
      const answer = await fetch(`${service.url}/v1/${path}`, {
        method: 'POST',
        headers: { ...headers, authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, body: JSON.parse(await answer.text()) }
    }
    const sent = await post('send', { ...message, name: 'Shop', withUnsubscribe: true })
    assert.deepEqual([sent.status, sent.body.success], [200, true])
    assert.equal(sent.body.emails[0].contact.email, 'ada@example.net')
    assert.equal(sent.body.warnings[0].field, 'withUnsubscribe')
    const tracked = await post('track', { event: 'signed-up', email: message.to, data: { a: 'b' } })
    assert.deepEqual([tracked.status, tracked.body.success], [200, true])
    const refused = await post('send', { ...message, to: 'nobody' })
    assert.deepEqual([refused.status, refused.body.message], [422, 'to: not an email address'])
  })
}

test('@plunk/node 3.0.3 sends HTML and Markdown, tracks, and shows what is wrong', async () => {
  const plunk = new Plunk.default(mine.secret, { baseUrl: `${service.url}/v1/` })
  for (const type of ['html', 'markdown'] as const) {
    const body = type === 'html' ? '<b>Hi</b>' : '# Hi **{{ name }}**'
    const answer = await plunk.emails.send({ ...message, type, body, subscribed: false })
    assert.equal(answer.success, true)
    assert.equal('warnings' in answer, false)
    const [row] = await service.core.store.read
      .select({ body: contents.body })
      .from(emails)
      .innerJoin(contents, eq(contents.id, emails.contentId))
      .orderBy(desc(emails.id))
      .limit(1)
    assert.match(row?.body ?? '', type === 'html' ? /<b>Hi<\/b>/ : /<h1>Hi <strong>\{\{ name \}\}/)
  }
  const data = { plan: 'pro', once: { value: 'x', persistent: false } }
  const event = { event: 'signed-up', email: message.to, subscribed: true, data }
  assert.equal((await plunk.events.track(event)).success, true)
  await assert.rejects(plunk.emails.send({ ...message, from: 'x' }), {
    message: 'from: not an email address',
  })
})
