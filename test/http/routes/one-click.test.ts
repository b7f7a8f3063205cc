/** `POST /unsubscribe/…` as mail programs call it (RFC 8058). */
import assert from 'node:assert/strict'
import { request as startRequest } from 'node:http'
import { beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { setSubscribed } from '../../../src/features/people/contacts/write/set-subscribed.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import {
  addRecipient,
  type Recipient,
  subscriptionEvents,
} from '../../features/people/contacts/add-recipient.ts'
import { useService } from '../service.ts'

const { service } = useService({}, async ({ service, mine }) => {
  ada = await addRecipient(service.core, { projectId: mine.id })
})
let ada: Recipient

beforeEach(async () => {
  await subscribeAgain()
  await service.core.store.write(async (tx) => {
    await tx.delete(events)
  })
})

const countEvents = () => service.core.store.read.$count(events)

async function isSubscribed(): Promise<boolean | undefined> {
  const { read } = service.core.store
  return (await read.select().from(contacts).where(eq(contacts.id, ada.contactId)).get())
    ?.subscribed
}

async function subscribeAgain(): Promise<void> {
  const change = { subscribed: true, at: 1, reason: 'api', emailId: null } as const
  await service.core.store.write((tx) => setSubscribed(tx, ada.contactId, change))
}

const oneClick = 'List-Unsubscribe=One-Click'
const multipart = [
  '--b1',
  'Content-Disposition: form-data; name="List-Unsubscribe"',
  '',
  'One-Click',
  '--b1--',
  '',
].join('\r\n')

const calls: [string, Record<string, string>, string[]][] = [
  [
    'a form, as Gmail posts it',
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    [oneClick],
  ],
  ['a multipart form', { 'Content-Type': 'multipart/form-data; boundary=b1' }, [multipart]],
  [
    'a form with a charset',
    { 'Content-Type': 'Application/X-WWW-Form-URLEncoded; charset=utf-8' },
    [oneClick],
  ],
  ['a body without a type', {}, [oneClick]],
  ['a type of another body', { 'Content-Type': 'application/json' }, [oneClick]],
  ['a type that is none', { 'Content-Type': ';;' }, [oneClick]],
  ['JSON', { 'Content-Type': 'application/json' }, ['{"List-Unsubscribe":"One-Click"}']],
  ['no body', { 'Content-Length': '0' }, []],
  ['neither body nor length', {}, []],
  ['octets that are no text', { 'Content-Type': 'text/plain' }, ['\u0000\ufffd%zz=&&']],
  ['a body in chunks', { 'Transfer-Encoding': 'chunked' }, ['List-Unsub', 'scribe=One-Click']],
  ['a body announced first', { Expect: '100-continue', 'Content-Length': '26' }, [oneClick]],
  ['a body without end', { 'Transfer-Encoding': 'chunked' }, [oneClick, 'x'.repeat(300_000)]],
  ['a body too large by its length', { 'Content-Length': '20000' }, ['y'.repeat(20_000)]],
  ['cookies and a key', { Cookie: 'a=b', Authorization: `Bearer ${'k'.repeat(70)}` }, [oneClick]],
  ['another origin', { Origin: 'https://mail.test', Referer: 'https://mail.test/' }, [oneClick]],
]

test('S22: a one-click request unsubscribes in any form that mail programs send (RFC 8058)', async () => {
  for (const [what, headers, chunks] of calls) {
    const { status, type, body } = await send(`/unsubscribe/${ada.token}`, { headers, chunks })
    assert.deepEqual([what, status, type, body], [what, 200, 'text/plain; charset=utf-8', 'OK\n'])
    assert.equal(await isSubscribed(), false, what)
    assert.deepEqual((await subscriptionEvents(service.core)).at(-1)?.data, { reason: 'one-click' })
    await subscribeAgain()
  }
  assert.equal(await countEvents(), 2 * calls.length)
})

test('S22: a repeated one-click request has the same response and makes no second event', async () => {
  const click = () =>
    supertest(service.url).post(`/unsubscribe/${ada.token}`).type('form').send(oneClick)
  const replies = await Promise.all(Array.from({ length: 10 }, click))
  for (const { status, text, headers } of [...replies, await click()]) {
    assert.deepEqual([status, text], [200, 'OK\n'])
    assert.equal(headers['set-cookie'], undefined)
    assert.equal(headers.location, undefined)
    assert.equal(headers['ratelimit-limit'], undefined)
  }
  assert.equal(await countEvents(), 1)
})

/** A request with nothing added to it. */
function send(
  path: string,
  { headers = {}, chunks = [] }: { headers?: Record<string, string>; chunks?: string[] } = {},
): Promise<{ status: number | undefined; type: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const request = startRequest(`${service.url}${path}`, { method: 'POST', headers, agent: false })
    request.on('error', reject).on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => {
        resolve({ status: response.statusCode, type: response.headers['content-type'], body })
      })
    })
    const finish = () => {
      for (const chunk of chunks) request.write(chunk)
      request.end()
    }
    if (headers.Expect === undefined) return finish()
    request.on('continue', finish).flushHeaders()
  })
}
