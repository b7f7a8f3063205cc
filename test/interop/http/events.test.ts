/** Tracked events, by curl; `src/docs/events-and-segments.md` describes them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addressOf,
  curl,
  eventsOf,
  find,
  refused,
  serveFile,
  the,
  unlessCurl,
} from './shared-client.ts'

serveFile()

describe('POST /v1/track', unlessCurl, () => {
  it('accepts either key, creates a subscribed contact and returns the ids', async () => {
    for (const key of [the().publicKey, undefined]) {
      const answer = await curl('POST', '/v1/track', {
        ...(key === undefined ? {} : { key }),
        body: {
          email: ` ${addressOf('Track').toUpperCase()} `,
          event: 'signed.up',
          data: { plan: 'pro' },
        },
      })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.success, true)
      const { contact, event, timestamp } = answer.body.data
      assert.match(event, /^[0-9a-f-]{36}$/)
      assert.ok(Date.parse(timestamp))
      const found = await find('track')
      // The id that the public key sees is nobody's.
      if (key === undefined) assert.equal(contact, found.id)
      else assert.match(contact, /^[0-9a-f]{8}-[0-9a-f]{4}-8/)
      const { body } = await curl('GET', `/contacts/${found.id}`)
      assert.equal(body.email, addressOf('track'))
      assert.equal(body.subscribed, true)
      assert.deepEqual(body.data, { plan: 'pro' })
    }
    const { id } = await find('track')
    const names = (await eventsOf(id)).map(({ name }) => name)
    assert.deepEqual(names, ['signed.up', 'signed.up'])
  })

  it('keeps or changes the subscription as the request says', async () => {
    const track = (more: object) =>
      curl('POST', '/v1/track', { body: { email: addressOf('opt'), event: 'seen', ...more } })
    await track({ subscribed: false })
    assert.equal((await find('opt')).subscribed, false)
    await track({})
    assert.equal((await find('opt')).subscribed, false)
    await track({ subscribed: true })
    assert.equal((await find('opt')).subscribed, true)
    await track({ subscribed: false, preserveExistingSubscription: true })
    assert.equal((await find('opt')).subscribed, true)
    await track({ subscribed: false })
    const { id, subscribed } = await find('opt')
    assert.equal(subscribed, false)
    const flips = (await eventsOf(id)).map(({ name }) => name).filter((name) => name !== 'seen')
    assert.deepEqual(flips, ['contact.unsubscribed', 'contact.subscribed'])
  })

  it('applies the rules for data', async () => {
    const track = (data: unknown) =>
      curl('POST', '/v1/track', { body: { email: addressOf('rules'), event: 'seen', data } })
    await track({
      ...{ id: 'x', email: 'x', pillarbox_id: 'x', unsubscribeUrl: 'x', subscribed: 'kept' },
      ...{
        plan: 'pro',
        once: { value: 1, persistent: false },
        kept: { value: 1, persistent: true },
      },
      ...{ list: [1, { a: 2 }], empty: '', gone: 'soon' },
    })
    await track({ gone: null, plan: '' })
    assert.deepEqual((await find('rules')).data, {
      ...{ subscribed: 'kept', plan: 'pro', kept: { value: 1, persistent: true } },
      list: [1, { a: 2 }],
    })
    refused(await track({ locale: 7 }), 422, 'VALIDATION_ERROR', 'data.locale')
    const [first] = (await eventsOf((await find('rules')).id)).reverse()
    assert.deepEqual((first?.data as { once?: unknown } | undefined)?.once, {
      value: 1,
      persistent: false,
    })
  })

  it('refuses reserved names, bad fields and a used key', async () => {
    const body = { email: addressOf('track'), event: 'seen' }
    for (const event of ['email.opened', 'contact.subscribed', 'segment.vip.entry']) {
      const answer = await curl('POST', '/v1/track', { body: { ...body, event } })
      refused(answer, 422, 'VALIDATION_ERROR', 'event')
      const [problem] = answer.body.error.errors
      assert.equal(problem.code, 'reserved_event')
      assert.equal(problem.received, event)
    }
    for (const event of ['contact.created', 'segment.foo']) {
      assert.equal((await curl('POST', '/v1/track', { body: { ...body, event } })).status, 200)
    }
    refused(
      await curl('POST', '/v1/track', { body: { ...body, email: 'nobody' } }),
      422,
      'VALIDATION_ERROR',
      'email',
    )
    refused(await curl('POST', '/v1/track', { body: '{' }), 400, 'VALIDATION_ERROR')
    refused(await curl('POST', '/v1/track', { body, key: 'pk_wrong' }), 401, 'INVALID_API_KEY')
    const headers = [`Idempotency-Key: ${the().tag}`]
    assert.equal((await curl('POST', '/v1/track', { body, headers })).status, 200)
    refused(await curl('POST', '/v1/track', { body, headers }), 409, 'IDEMPOTENCY_KEY_REUSED')
  })
})

describe('events', unlessCurl, () => {
  it('are listed, counted, named and deleted', async () => {
    const name = `bought ${the().tag}`
    const encoded = encodeURIComponent(name)
    for (const who of ['e1', 'e1', 'e2']) {
      await curl('POST', '/v1/track', {
        body: { email: addressOf(who), event: name, data: { a: 1 } },
      })
    }
    const { id } = await find('e1')
    const internal = await curl('POST', '/events/track', {
      body: { name, contactId: id, data: { b: 2 } },
    })
    assert.equal(internal.status, 201, internal.text)
    assert.equal(internal.body.contactId, id)
    const listed = await curl('GET', `/events?eventName=${encoded}&limit=2`)
    assert.equal(listed.body.events.length, 2)
    assert.equal(listed.body.events[0].contact.email, addressOf('e1'))
    assert.deepEqual(listed.body.events[0].data, { b: 2 })
    const stats = await curl('GET', '/events/stats')
    assert.equal(stats.body.find((each: { name: string }) => each.name === name).count, 4)
    const counts = stats.body.map(({ count }: { count: number }) => count)
    assert.deepEqual(
      counts,
      [...counts].sort((a, b) => b - a),
    )
    const none = await curl('GET', '/events/stats?endDate=2001-01-01')
    assert.deepEqual(none.body, [])
    const names = await curl('GET', '/events/names')
    assert.ok(names.body.eventNames.includes(name))
    const usage = await curl('GET', `/events/${encoded}/usage`)
    assert.deepEqual(
      [usage.body.totalCount, usage.body.uniqueContacts, usage.body.canDelete],
      [4, 2, true],
    )
    const foreign = { name, contactId: id }
    refused(
      await curl('POST', '/events/track', { key: the().strangerKey, body: foreign }),
      404,
      'CONTACT_NOT_FOUND',
    )
    const deleted = await curl('DELETE', `/events/${encoded}`)
    assert.equal(deleted.body.deletedCount, 4)
    refused(await curl('DELETE', '/events/email.sent'), 400, 'BAD_REQUEST')
  })
})
