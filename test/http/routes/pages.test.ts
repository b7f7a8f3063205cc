import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import fc from 'fast-check'
import supertest from 'supertest'
import { AppError } from '../../../src/base/errors.ts'
import { createKeyring } from '../../../src/config/keyring.ts'
import { suppress } from '../../../src/features/mail/messages/outcome/suppression.ts'
import { setSubscribed } from '../../../src/features/people/contacts/write/set-subscribed.ts'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import {
  createClickToken,
  createOpenToken,
  createToken,
  createUnsubscribeLocalPart,
  uuidBytes,
} from '../../../src/formats/signed-tokens.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'
import { textsOf } from '../../../src/texts/texts.ts'
import { SECRET } from '../../core.ts'
import {
  addEmail,
  addRecipient,
  pageToken,
  type Recipient,
  subscriptionEvents,
} from '../../features/people/contacts/add-recipient.ts'
import { startService, useService } from '../service.ts'

const oneClick = 'List-Unsubscribe=One-Click'
const pages = ['unsubscribe', 'subscribe', 'manage'] as const

const { service, mine } = useService()
let ada: Recipient

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    await tx.delete(events)
  })
  ada = await makeRecipient()
})

const makeRecipient = (options: Partial<Parameters<typeof addRecipient>[1]> = {}) =>
  addRecipient(service.core, { projectId: mine.id, ...options })

const get = (path: string) => supertest(service.url).get(path)
const post = (path: string) => supertest(service.url).post(path)
const press = (path: string, wish: string) => post(path).type('form').send({ wish })
const countEvents = () => service.core.store.read.$count(events)

async function isSubscribed({ contactId }: Recipient): Promise<boolean | undefined> {
  const { read } = service.core.store
  return (await read.select().from(contacts).where(eq(contacts.id, contactId)).get())?.subscribed
}

async function subscribeAgain({ contactId }: Recipient): Promise<void> {
  const change = { subscribed: true, at: 1, reason: 'api', emailId: null } as const
  await service.core.store.write((tx) => setSubscribed(tx, contactId, change))
}

test('S22: reading a page changes nothing', async () => {
  const bob = await makeRecipient({ subscribed: false })
  for (const page of pages) {
    for (const { token } of [ada, bob]) {
      const path = `/${page}/${token}`
      assert.equal((await get(path)).status, 200)
      const head = await supertest(service.url).head(path)
      assert.deepEqual([head.status, head.text ?? ''], [200, ''])
      for (const headers of [
        { 'Sec-Purpose': 'prefetch;prerender' },
        { Purpose: 'prefetch' },
        { 'User-Agent': 'Barracuda Sentinel (EE)', 'List-Unsubscribe': 'One-Click' },
      ]) {
        assert.equal((await get(`${path}?wish=unsubscribe`).set(headers)).status, 200)
      }
      for (const method of ['put', 'patch', 'delete'] as const) {
        assert.equal((await supertest(service.url)[method](path)).status, 405)
      }
    }
  }
  assert.deepEqual([await isSubscribed(ada), await isSubscribed(bob)], [true, false])
  assert.equal(await countEvents(), 0)
})

test('unsubscribing: a question, a button, and the page confirms it', async () => {
  const path = `/unsubscribe/${ada.token}`
  const question = await get(path)
  assert.match(question.text, /<h1>Unsubscribe<\/h1>/)
  assert.match(
    question.text,
    /<form method="post">\s*<input type="hidden" name="wish" value="unsub/,
  )

  const pressed = await press(path, 'unsubscribe')
  assert.deepEqual([pressed.status, pressed.text], [303, ''])
  const back = new URL(pressed.headers.location ?? '', `${service.url}${path}`)
  assert.equal(back.href, `${service.url}${path}`)
  assert.equal(await isSubscribed(ada), false)

  const done = await get(path)
  assert.match(done.text, /<h1>You are unsubscribed<\/h1>/)
  assert.doesNotMatch(done.text, /<form/)
  assert.match(done.text, new RegExp(`href="../subscribe/${ada.token}"`))
  assert.match(done.text, new RegExp(`href="../manage/${ada.token}"`))

  assert.equal((await press(path, 'unsubscribe')).status, 303)
  const [event, ...others] = await subscriptionEvents(service.core)
  const { contactId, emailId } = ada
  const data = { reason: 'page' }
  assert.deepEqual(event, { name: 'contact.unsubscribed', contactId, emailId, data })
  assert.deepEqual(others, [])
})

test('subscribing: a question, a button, and the page confirms it', async () => {
  const bob = await makeRecipient({ subscribed: false })
  const path = `/subscribe/${bob.token}`
  assert.match((await get(path)).text, /<h1>Subscribe<\/h1>[\s\S]*<form/)
  assert.equal((await press(path, 'subscribe')).status, 303)
  assert.equal((await press(path, 'subscribe')).status, 303)
  const done = await get(path)
  assert.match(done.text, /<h1>You are subscribed<\/h1>/)
  assert.doesNotMatch(done.text, /<form|class="note"/)
  const names = (await subscriptionEvents(service.core)).map(({ name }) => name)
  assert.deepEqual(names, ['contact.subscribed'])
})

test('the preferences show the state and change it both ways', async () => {
  const path = `/manage/${ada.token}`
  for (const [shown, wish, other] of [
    ['Subscribed', 'unsubscribe', 'subscribe'],
    ['Not subscribed', 'subscribe', 'unsubscribe'],
  ] as const) {
    const { text } = await get(path)
    assert.match(text, new RegExp(`<p class="state( on)?">${shown}</p>`))
    assert.match(text, new RegExp(`name="wish" value="${wish}"`))
    assert.doesNotMatch(text, new RegExp(`value="${other}"`))
    assert.equal((await press(path, wish)).status, 303)
    assert.equal(await isSubscribed(ada), wish === 'subscribe')
  }
  assert.equal(await countEvents(), 2)
  for (const wish of ['', 'Unsubscribe', 'delete', '__proto__']) {
    assert.equal((await press(path, wish)).status, 303)
  }
  assert.equal((await post(path)).status, 303)
  assert.equal(await countEvents(), 2)
})

/** Forged tokens of every kind. */
function forgeries(): string[] {
  const { keyring } = service.core
  const { contactId, emailId, token } = ada
  const last = token.endsWith('a') ? 'b' : 'a'
  return [
    contactId,
    emailId,
    token.slice(0, -1),
    token.slice(0, -1) + last,
    `${token}a`,
    `${token}=`,
    pageToken({ keyring: createKeyring('another secret') }, { contactId, emailId }),
    createToken(keyring.keys('page')[0], uuidBytes(contactId)),
    createOpenToken(keyring.keys('open')[0], emailId),
    createClickToken(keyring.keys('click')[0], { emailId, link: 'x'.repeat(16) }),
    createUnsubscribeLocalPart(keyring.keys('mail-in-unsubscribe')[0], emailId),
    '%00',
    '%',
    '%zz',
    '..%2f..%2fetc',
    '%3Cscript%3E',
    `${token}%20`,
    `${token}/`,
    `${token}/${token}`,
    'x'.repeat(5000),
  ]
}

test('S22: without a valid token every page is 404, and one-click does nothing', async () => {
  for (const forged of forgeries()) {
    const click = await post(`/unsubscribe/${forged}`).type('form').send(oneClick)
    assert.deepEqual([forged, click.status, click.text], [forged, 200, 'OK\n'])
    assert.match(click.headers['content-type'] ?? '', /^text\/plain/)
    assert.equal((await press(`/unsubscribe/${forged}`, 'unsubscribe')).text, 'OK\n')
    const others = [
      ...pages.map((page) => get(`/${page}/${forged}`)),
      press(`/subscribe/${forged}`, 'unsubscribe'),
      press(`/manage/${forged}`, 'unsubscribe'),
    ]
    for (const { status, text, headers } of await Promise.all(others)) {
      assert.equal(status, 404, forged)
      assert.match(headers['content-type'] ?? '', /^text\/html/)
      assert.match(text, /<h1>This link does not work<\/h1>/)
    }
  }
  assert.equal(await isSubscribed(ada), true)
  assert.equal(await countEvents(), 0)
})

test('a link truncated at any character shows a page in the language of the reader', async () => {
  for (const name of pages) {
    const link = `/${name}/${ada.token}`
    for (const length of [name.length + 1, name.length + 2, name.length + 3, link.length - 1]) {
      const path = link.slice(0, length)
      const answer = await get(path).set('accept-language', 'de').expect(404)
      assert.match(answer.headers['content-type'] ?? '', /^text\/html/, path)
      assert.match(answer.text, /<html lang="de"/, path)
      assert.ok(answer.text.includes(textsOf('de').contact.notFound.title), path)
    }
    await get(`${link.slice(0, -5)}%E0%A4`)
      .expect(404)
      .expect('content-type', /^text\/html/)
  }
  for (const path of ['/unsubscribe', '/unsubscribe/']) {
    const answer = await post(path).type('form').send(oneClick).expect(200)
    assert.equal(answer.text, 'OK\n')
  }
  assert.equal(await countEvents(), 0)
})

test('S22: a token with any changed character has no effect', async () => {
  const { token } = ada
  const changed = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'))
    .map(([at, character]) => token.slice(0, at) + character + token.slice(at + 1))
    .filter((other) => other !== token)
  const acts = fc.asyncProperty(changed, async (other) => {
    const { status } = await post(`/unsubscribe/${other}`)
    return status === 200 && (await get(`/manage/${other}`)).status === 404
  })
  await fc.assert(acts, { numRuns: 60 })
  assert.equal(await isSubscribed(ada), true)
})

test('a link whose contact was deleted before the upgrade says so, and pretends nothing', async () => {
  const token = pageToken(service.core, { contactId: newId(), emailId: newId() })
  for (const page of pages) {
    const { status, text } = await get(`/${page}/${token}`)
    assert.equal(status, 410)
    assert.match(text, /reply to the email that it was in/)
  }
  assert.equal((await press(`/manage/${token}`, 'subscribe')).status, 410)
  assert.equal((await post(`/unsubscribe/${token}`)).status, 410)
  assert.equal(await countEvents(), 0)
})

test('a link of a preview acts for nobody, as one that nobody signed', async () => {
  const token = pageToken(service.core, { contactId: undefined, emailId: undefined })
  for (const page of pages) assert.equal((await get(`/${page}/${token}`)).status, 404)
  assert.equal((await post(`/unsubscribe/${token}`)).status, 200)
})

test('a token is accepted in capital letters and with the signature of the previous secret', async (t) => {
  assert.equal((await get(`/manage/${ada.token.toUpperCase()}`)).status, 200)
  const { core } = service
  const { keyring } = core
  t.after(() => {
    core.keyring = keyring
  })
  core.keyring = createKeyring('a newer secret of tests', SECRET)
  assert.equal((await get(`/unsubscribe/${ada.token}`)).status, 200)
  assert.equal((await press(`/unsubscribe/${ada.token}`, 'unsubscribe')).status, 303)
  assert.equal(await isSubscribed(ada), false)
})

test('the pages of a disabled project keep working', async (t) => {
  const { core } = service
  t.after(() => updateProject(core, mine.id, { enable: true }))
  await updateProject(core, mine.id, { disable: 'MANUAL' })
  for (const page of pages) assert.equal((await get(`/${page}/${ada.token}`)).status, 200)
  assert.equal((await post(`/unsubscribe/${ada.token}`)).status, 200)
  assert.equal(await isSubscribed(ada), false)
})

test('the request may name the email with the link, and the links of the page keep it', async () => {
  const { contactId } = ada
  const campaignId = newId()
  const email = await addEmail(service.core, { projectId: mine.id, contactId, campaignId })
  const path = `/unsubscribe/${ada.token}?e=${email}`
  assert.match((await get(path)).text, new RegExp(`href="../manage/${ada.token}\\?e=${email}"`))
  const { headers } = await press(path, 'unsubscribe')
  assert.equal(headers.location, `${ada.token}?e=${email}`)
  const [event] = await subscriptionEvents(service.core)
  assert.equal(event?.emailId, email)
  assert.deepEqual(event?.data, { reason: 'page', campaignId })
})

test('an id that is not an email of the contact is ignored and never written into a page', async () => {
  const otherRecipient = await makeRecipient()
  for (const e of [otherRecipient.emailId, newId(), '"><script>', '%00', 'x'.repeat(2000), '']) {
    const path = `/unsubscribe/${ada.token}?e=${encodeURIComponent(e)}`
    const { status, text } = await get(path)
    assert.equal(status, 200)
    assert.doesNotMatch(text, /<script|x{9}/)
    assert.equal((await post(path)).status, 200)
    assert.equal((await subscriptionEvents(service.core)).at(-1)?.emailId, ada.emailId)
    await subscribeAgain(ada)
  }
})

test('S18: names and addresses are shown as text, in every language', async (t) => {
  const { core } = service
  const name = `<img src=x onerror=alert(1)> & "Co" '{email}' \u202e</title>`
  const rename = (to: string) =>
    core.store.write(async (tx) => {
      await tx.update(projects).set({ name: to }).where(eq(projects.id, mine.id))
    })
  t.after(() => rename('mine'))
  await rename(name)
  const escaped = '&lt;img src=x onerror=alert(1)&gt; &amp; &quot;Co&quot; &#39;{email}&#39;'
  for (const language of LANGUAGES) {
    const subscribed = language < 'h'
    const data = { locale: language }
    const email = `o'neil&sons+${language.toLowerCase()}@people.test`
    const { token } = await makeRecipient({ email, data, subscribed })
    for (const page of pages) {
      const { text } = await get(`/${page}/${token}`)
      assert.ok(text.includes(`<bdi>${escaped}`), `${page} ${language}`)
      assert.ok(text.includes(`<bdi>${email.replace("'", '&#39;').replace('&s', '&amp;s')}</bdi>`))
      assert.doesNotMatch(text, /<img|<\/title>[\s\S]*<\/title>|\{project\}/)
    }
  }
})

test('a page is in the language of its contact, and says so', async () => {
  for (const language of LANGUAGES) {
    const { token } = await makeRecipient({ data: { locale: language } })
    const texts = textsOf(language).contact
    for (const page of pages) {
      const { text, headers } = await get(`/${page}/${token}`)
      assert.match(text, new RegExp(`<html lang="${language}" dir="ltr">`))
      assert.equal(headers['content-language'], language)
      const { title } = page === 'subscribe' ? texts.subscribed : texts[page]
      assert.ok(text.includes(`<h1>${title}</h1>`), `${page} ${language}`)
      assert.ok(text.includes(`<title>${title} · mine</title>`))
    }
  }
})

test('without a contact the language of the browser is used', async () => {
  const reply = await get('/manage/nope').set('Accept-Language', 'xx, nl;q=0.4, de-AT;q=0.8')
  assert.match(reply.text, /<html lang="de"[\s\S]*<h1>Dieser Link funktioniert nicht<\/h1>/)
})

test('S18: a page runs nothing, loads nothing, cannot be framed and is not cached', async () => {
  for (const path of [...pages.map((page) => `/${page}/${ada.token}`), '/manage/nope']) {
    const { text, headers } = await get(path)
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
    const policy = headers['content-security-policy'] ?? ''
    assert.deepEqual(policy.split('; '), [
      "default-src 'none'",
      `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ])
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-robots-tag'], 'noindex, nofollow')
    assert.equal(headers['set-cookie'], undefined)
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.doesNotMatch(text, /<script|<iframe|<img|https?:|\/\/|url\(|@import|\son\w+=|\sstyle=/i)
  }
})

test('a contact that subscribes with a suppressed address reads that no mail will arrive', async () => {
  const email = 'suppressed@people.test'
  const { token, emailId } = await makeRecipient({ email, subscribed: false })
  await service.core.store.write((tx) =>
    suppress(tx, {
      projectId: mine.id,
      address: email,
      reason: 'HARD_BOUNCE',
      source: '550 5.1.1 <no such user & more>',
      emailId,
      at: 1,
    }),
  )
  assert.doesNotMatch((await get(`/manage/${token}`)).text, /class="note"/)
  await press(`/subscribe/${token}`, 'subscribe')
  for (const page of ['subscribe', 'manage']) {
    const { text } = await get(`/${page}/${token}`)
    assert.match(text, /class="note">At the moment <strong><bdi>mine<\/bdi><\/strong> cannot send/)
    assert.doesNotMatch(text, /550/)
  }
})

test('a change that could not be stored is not confirmed', async (t) => {
  const { store } = service.core
  const { write } = store
  t.after(() => {
    store.write = write
  })
  store.write = async () => {
    throw new AppError('DATABASE_ERROR', 'The database is full.', { cause: 'SQLITE_FULL' })
  }
  const path = `/unsubscribe/${ada.token}`
  for (const failed of [
    await post(path).type('form').send(oneClick),
    await press(path, 'unsubscribe'),
  ]) {
    assert.equal(failed.status, 503)
    assert.equal(failed.headers['retry-after'], '5')
    assert.match(failed.text, /<h1>Something went wrong<\/h1>/)
    assert.doesNotMatch(failed.text, /database|SQLITE/i)
  }
  assert.equal(await isSubscribed(ada), true)
})

test('pages are outside the rate limit, and tokens outside the request log', async (t) => {
  const limited = await startService({ limits: { apiRequestsPerMinute: 1 } })
  t.after(limited.stop)
  const { id: projectId } = await limited.makeProject('busy')
  const { token } = await addRecipient(limited.core, { projectId })
  for (let count = 0; count < 5; count += 1) {
    for (const page of pages) {
      const { status } = await supertest(limited.url).get(`/${page}/${token}`)
      assert.equal(status, 200)
    }
    assert.equal((await supertest(limited.url).post(`/unsubscribe/${token}`)).status, 200)
  }
  for (const page of [...pages, 'contacts/public']) {
    assert.equal((await supertest(limited.url).get(`/${page}/${token}a`)).status, 404)
  }
  assert.deepEqual(limited.requests, [])
})
