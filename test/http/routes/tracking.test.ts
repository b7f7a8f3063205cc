import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { linkNumber } from '../../../src/formats/html/links.ts'
import {
  createClickToken,
  createOpenToken,
  createPageToken,
} from '../../../src/formats/signed-tokens.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { pause } from '../../pause.ts'
import { startService, useService } from '../service.ts'

const agent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const link = 'https://shop.test/sale?a=1&b=2#top'
const GIF_OCTETS = 43

const { service } = useService()

/** An email delivered an hour ago; its id. */
async function deliver(to = service): Promise<string> {
  const { store } = to.core
  const at = Date.now() - 3_600_000
  const project = await to.makeProject(`p${newId()}`)
  const [id, contentId, contactId] = [newId(), newId(), newId()]
  const content = { subject: 'Hello', body: `<a href="${link}">x</a>`, lastUsedAt: at }
  await store.write(async (tx) => {
    await tx
      .insert(contents)
      .values({ id: contentId, projectId: project.id, createdAt: at, ...content })
    await tx.insert(contacts).values({
      ...{ id: contactId, projectId: project.id, address: 'ada@dest.test', subscribed: true },
      ...{ createdAt: at, updatedAt: at },
    })
    await tx.insert(emails).values({
      ...{ id, projectId: project.id, contactId, contentId, sourceType: 'TRANSACTIONAL' },
      ...{ recipient: 'ada@dest.test', recipientDomain: 'dest.test', fromAddress: 'a@shop.test' },
      ...{ subject: 'Hello', contentClass: 'TRANSACTIONAL', isTracked: true, messageId: id },
      ...{ state: 'delivered', status: 'DELIVERED', queueClass: 1, giveUpAt: at },
      ...{ sentAt: at, deliveredAt: at, createdAt: at, updatedAt: at },
    })
  })
  return id
}

const keys = () => service.core.keyring
const pixelOf = (emailId: string) => `/t/o/${createOpenToken(keys().keys('open')[0], emailId)}`
const linkOf = (emailId: string, to: string | number) =>
  `/t/c/${createClickToken(keys().keys('click')[0], { emailId, link: to })}`
const get = (path: string) => supertest(service.url).get(path).set('user-agent', agent)

/** The row once every hit so far is in it. */
async function settled(emailId: string) {
  while (service.core.hits.counts().waiting > 0) await pause()
  const row = await service.core.store.read
    .select()
    .from(emails)
    .where(eq(emails.id, emailId))
    .get()
  return row as NonNullable<typeof row>
}

describe('the pixel', () => {
  it('is a GIF of 43 octets that no cache stores, and counts an open', async () => {
    const id = await deliver()
    const { status, headers, body } = await get(pixelOf(id)).responseType('blob')
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'image/gif')
    assert.equal(headers['content-length'], String(GIF_OCTETS))
    assert.match(headers['cache-control'] ?? '', /no-store/)
    assert.equal(headers['x-robots-tag'], 'noindex, nofollow')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['set-cookie'], undefined)
    assert.equal((body as Buffer).length, GIF_OCTETS)
    assert.equal((body as Buffer).toString('latin1', 0, 6), 'GIF89a')
    const { opens, status: now } = await settled(id)
    assert.deepEqual([opens, now], [1, 'OPENED'])
  })

  it('has the same headers for HEAD, which counts as a machine', async () => {
    const id = await deliver()
    const reply = await supertest(service.url).head(pixelOf(id)).set('user-agent', agent)
    assert.deepEqual(
      [reply.status, reply.headers['content-type'], reply.text],
      [200, 'image/gif', undefined],
    )
    const { opens, machineOpens, status } = await settled(id)
    assert.deepEqual([opens, machineOpens, status], [0, 1, 'DELIVERED'])
  })
})

describe('a link', () => {
  it('redirects with a 302 that no cache stores, and counts a click', async () => {
    const id = await deliver()
    const { status, headers, text } = await get(linkOf(id, linkNumber(link)))
    assert.deepEqual([status, headers.location, text], [302, link, ''])
    assert.match(headers['cache-control'] ?? '', /no-store/)
    assert.equal(headers['x-robots-tag'], 'noindex, nofollow')
    assert.equal(headers['set-cookie'], undefined)
    const row = await settled(id)
    assert.deepEqual([row.clicks, row.opens, row.status], [1, 0, 'CLICKED'])
    const [event] = await service.core.store.read
      .select()
      .from(events)
      .where(eq(events.emailId, id))
      .all()
    assert.deepEqual([event?.name, event?.data?.link], ['email.click', link])
  })

  it('that the token itself contains is redirected to in ASCII', async () => {
    const id = await deliver()
    const mine = 'https://shop.test/for?who=ada&q=a%20b|{}"'
    assert.equal((await get(linkOf(id, mine))).headers.location, mine)
    const foreign = await get(linkOf(id, 'https://bücher.test/größe?q=ä b'))
    assert.equal(
      foreign.headers.location,
      'https://xn--bcher-kva.test/gr%C3%B6%C3%9Fe?q=%C3%A4%20b',
    )
  })

  it('redirects HEAD requests and prefetchers, and counts a machine', async () => {
    const id = await deliver()
    const head = await supertest(service.url).head(linkOf(id, link)).set('user-agent', agent)
    assert.deepEqual([head.status, head.headers.location], [302, link])
    assert.equal((await get(linkOf(id, link)).set('sec-purpose', 'prefetch')).status, 302)
    assert.equal((await get(linkOf(id, link)).set('user-agent', 'curl/8.5.0')).status, 302)
    const { clicks, machineClicks, status } = await settled(id)
    assert.deepEqual([clicks, machineClicks, status], [0, 3, 'DELIVERED'])
  })

  it('redirects for a disabled project', async () => {
    const id = await deliver()
    const { projectId } = await settled(id)
    await service.core.store.write((tx) =>
      tx.update(projects).set({ isDisabled: true }).where(eq(projects.id, projectId)).run(),
    )
    assert.equal((await get(linkOf(id, link))).status, 302)
  })

  it('counts each of many simultaneous clicks', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => deliver()))
    const paths = ids.flatMap((id) => [linkOf(id, link), linkOf(id, linkNumber(link)), pixelOf(id)])
    const replies = await Promise.all(paths.map(get))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([302, 200]))
    const rows = await Promise.all(ids.map(settled))
    assert.deepEqual(
      new Set(rows.map(({ opens, clicks }) => `${opens} ${clicks}`)),
      new Set(['1 2']),
    )
  })

  it('redirects when the database cannot write', async () => {
    const full = await startService({ isNew: true })
    try {
      const id = await deliver(full)
      await full.core.store.write((tx) => tx.get(sql.raw('PRAGMA max_page_count = 1')))
      const key = full.core.keyring.keys('click')[0]
      const token = createClickToken(key, { emailId: id, link: linkNumber(link) })
      const reply = await supertest(full.url).get(`/t/c/${token}`)
      assert.deepEqual([reply.status, reply.headers.location], [302, link])
    } finally {
      await full.stop()
    }
  })
})

describe('a token that this server did not sign', () => {
  it('S21: is 404, never a redirect, and counts nothing', async () => {
    const id = await deliver()
    const click = linkOf(id, link)
    const open = pixelOf(id)
    const page = createPageToken(keys().keys('page')[0], { contactId: newId(), emailId: id })
    const paths = [
      `${click.slice(0, -1)}`,
      `${click}a`,
      `${click.slice(0, -1)}${click.endsWith('a') ? 'e' : 'a'}`,
      click.replace('/t/c/', '/t/o/'),
      open.replace('/t/o/', '/t/c/'),
      `${open.slice(0, -2)}`,
      `/t/c/${page}`,
      `/t/o/${page}`,
      `/t/c/${newId()}`,
      linkOf(id, 7),
      linkOf(id, 'javascript:alert(1)'),
      '/t/c/x?url=https://evil.test/',
      '/t/c/%zz',
      '/t/o/%zz',
      '/t/c/https%3A%2F%2Fevil.test',
      '/t/c/',
      '/t/o/',
      '/t/c',
    ]
    for (const path of paths) {
      const { status, headers } = await get(path)
      assert.deepEqual([status, headers.location], [404, undefined], path)
    }
    const row = await settled(id)
    assert.deepEqual(
      [row.opens, row.clicks, row.machineOpens, row.machineClicks, row.status],
      [0, 0, 0, 0, 'DELIVERED'],
    )
  })

  it('S21: a query does not change the target of a link', async () => {
    const id = await deliver()
    const { headers } = await get(`${linkOf(id, link)}?url=https://evil.test/&link=x`)
    assert.equal(headers.location, link)
  })

  it('a token in capital letters has the same target', async () => {
    const id = await deliver()
    const token = linkOf(id, link).slice('/t/c/'.length)
    assert.equal((await get(`/t/c/${token.toUpperCase()}`)).headers.location, link)
  })

  it('leaves no line in the request log', async () => {
    service.requests.length = 0
    for (let times = 0; times < 5; times += 1) await get(`/t/c/${newId()}`)
    await get(linkOf(await deliver(), link))
    assert.deepEqual(service.requests, [])
  })
})
