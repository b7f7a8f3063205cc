import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeyring } from '../../../../src/config/keyring.ts'
import { createClickResolver } from '../../../../src/features/mail/tracking/resolve-click.ts'
import { linkNumber } from '../../../../src/formats/html/links.ts'
import {
  createClickToken,
  createOpenToken,
  createPageToken,
  createReturnPathLocalPart,
} from '../../../../src/formats/signed-tokens.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { contents } from '../../../../src/store/schema/messages.ts'
import { link, openTrackedSender, type TrackedSender } from './tracked-sender.ts'

const body = `<p><a href="${link}">A</a> <a href="https://shop.test/?a=1&amp;b=2">B</a></p>`
const keyOf = ({ core }: TrackedSender) => core.keyring.keys('click')[0]

async function openLinked(t: Parameters<typeof openTrackedSender>[0]) {
  const sender = await openTrackedSender(t)
  const emailId = await sender.deliver({}, body)
  const key = keyOf(sender)
  const resolve = createClickResolver(sender.core)
  return { sender, emailId, key, resolve }
}

describe('a click token', () => {
  it('leads to the numbered link of its email', async (t) => {
    const { emailId, key, resolve } = await openLinked(t)
    for (const to of [link, 'https://shop.test/?a=1&b=2']) {
      const token = createClickToken(key, { emailId, link: linkNumber(to) })
      assert.deepEqual(await resolve(token), { emailId, link: to })
    }
  })

  it('leads to the link that it contains, without a query', async (t) => {
    const { key, resolve } = await openLinked(t)
    const emailId = '0192aaaa-0000-7000-8000-000000000000'
    const to = 'https://shop.test/for/ada?token=Zürich'
    const token = createClickToken(key, { emailId, link: to })
    assert.deepEqual(await resolve(token), { emailId, link: to })
  })

  it('works after the body of its email was deleted', async (t) => {
    const { sender, emailId, key, resolve } = await openLinked(t)
    const { contentId } = await sender.email(emailId)
    const cleared = { body: null, links: [link] }
    await sender.core.store.write((tx) =>
      tx.update(contents).set(cleared).where(eq(contents.id, contentId)).run(),
    )
    const token = createClickToken(key, { emailId, link: linkNumber(link) })
    assert.deepEqual(await resolve(token), { emailId, link })
    const other = createClickToken(key, { emailId, link: linkNumber('https://shop.test/b') })
    assert.equal(await resolve(other), undefined)
  })

  it('reads a content once for any number of clicks', async (t) => {
    const { sender, emailId, key } = await openLinked(t)
    let reads = 0
    const read: typeof sender.core.store.read = Object.create(sender.core.store.read, {
      find: {
        value: (...given: Parameters<typeof read.find>) => {
          reads += 1
          return sender.core.store.read.find(...given)
        },
      },
    })
    const resolve = createClickResolver({ ...sender.core, store: { ...sender.core.store, read } })
    const token = createClickToken(key, { emailId, link: linkNumber(link) })
    for (let times = 0; times < 10; times += 1) await resolve(token)
    assert.equal(reads, 11)
  })

  it('signed with the previous secret still works', async (t) => {
    const { sender, emailId } = await openLinked(t)
    const before = createKeyring('the secret before this one')
    const keyring = createKeyring('the secret of today, long', 'the secret before this one')
    const resolve = createClickResolver({ ...sender.core, keyring })
    const token = createClickToken(before.keys('click')[0], { emailId, link })
    assert.deepEqual(await resolve(token), { emailId, link })
    const otherKeyring = createKeyring('the secret of another server')
    const forged = createClickToken(otherKeyring.keys('click')[0], { emailId, link })
    assert.equal(await resolve(forged), undefined)
  })
})

describe('a click leads only to a signed link', () => {
  it('a number without a link of the content leads nowhere', async (t) => {
    const { sender, emailId, key, resolve } = await openLinked(t)
    const other = await sender.deliver({}, '<a href="https://other.test/">x</a>')
    const stray = linkNumber('https://other.test/')
    assert.equal(await resolve(createClickToken(key, { emailId, link: stray })), undefined)
    const own = createClickToken(key, { emailId: other, link: stray })
    assert.equal((await resolve(own))?.link, 'https://other.test/')
    const gone = { emailId: '0192aaaa-0000-7000-8000-000000000000', link: linkNumber(link) }
    assert.equal(await resolve(createClickToken(key, gone)), undefined)
  })

  it('a changed, shortened or lengthened token leads nowhere', async (t) => {
    const { emailId, key, resolve } = await openLinked(t)
    const token = createClickToken(key, { emailId, link })
    for (let at = 0; at < token.length; at += 1) {
      const changed = token[at] === 'a' ? 'b' : 'a'
      assert.equal(await resolve(token.slice(0, at) + changed + token.slice(at + 1)), undefined)
      assert.equal(await resolve(token.slice(0, at)), undefined)
    }
    for (const more of ['a', 'aaaaaaaa', '=', ' ', '/', '?url=https://evil.test']) {
      assert.equal(await resolve(token + more), undefined)
    }
    assert.equal(await resolve(''), undefined)
    assert.equal(await resolve('a'.repeat(5_000)), undefined)
  })

  it('a token in another letter case leads to the same link only', async (t) => {
    const { emailId, key, resolve } = await openLinked(t)
    const token = createClickToken(key, { emailId, link })
    assert.deepEqual(await resolve(token.toUpperCase()), { emailId, link })
  })

  it('a token of another purpose leads nowhere', async (t) => {
    const { sender, emailId, resolve } = await openLinked(t)
    const { keyring } = sender.core
    const page = { contactId: (await sender.email(emailId)).contactId, emailId }
    const others = [
      createOpenToken(keyring.keys('open')[0], emailId),
      createPageToken(keyring.keys('page')[0], page),
      createReturnPathLocalPart(keyring.keys('return-path')[0], emailId).slice(2),
      createClickToken(keyring.keys('open')[0], { emailId, link }),
      createClickToken(keyring.keys('page')[0], { emailId, link }),
    ]
    for (const token of others) assert.equal(await resolve(token), undefined)
  })

  it('only http and https are followed, even with a signature', async (t) => {
    const { emailId, key, resolve } = await openLinked(t)
    const others = [
      'javascript:alert(1)',
      'data:text/html,hello',
      'file:///etc/passwd',
      'ftp://shop.test/',
      '//shop.test/',
      '/docs/index',
      'https:shop.test',
      'http://[broken/',
      ' https://shop.test/',
    ]
    for (const other of others) {
      assert.equal(await resolve(createClickToken(key, { emailId, link: other })), undefined, other)
    }
    const upperCase = 'HTTPS://shop.test/'
    assert.equal(
      (await resolve(createClickToken(key, { emailId, link: upperCase })))?.link,
      upperCase,
    )
  })
})
