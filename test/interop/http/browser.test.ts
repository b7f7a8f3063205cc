/**
 * The hosted pages in a real browser: with the keyboard alone, with and without scripts, on a
 * narrow screen, in both colour schemes, and as assistive technology is told of them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import {
  insertToken,
  makeLinkToken,
} from '../../../src/features/tenancy/accounts/links/link-tokens.ts'
import { isPassword } from '../../../src/features/tenancy/accounts/passwords/passwords.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { users } from '../../../src/store/schema/accounts.ts'
import type { TokenPurpose } from '../../../src/store/schema/words.ts'
import { LANGUAGES, type Language } from '../../../src/texts/languages.ts'
import { textsOf } from '../../../src/texts/texts.ts'
import {
  addRecipient,
  type Recipient,
  subscriptionEvents,
} from '../../features/people/contacts/add-recipient.ts'
import { useService } from '../../http/service.ts'
import { addUser } from '../../session.ts'
import { useChromium } from './chromium.ts'
import { enlargeLetters, focused, lowestContrast, overflow, smallTargets } from './page-layout.ts'

const { service, mine } = useService()
const chromium = useChromium()

describe('in Chromium', { skip: chromium.skip }, () => {
  for (const [language, javaScriptEnabled] of [
    ['en', false],
    ['fr', true],
  ] as const) {
    const how = `${language}, ${javaScriptEnabled ? 'with' : 'without'} scripts`
    test(`a keyboard is enough to leave, come back and choose (${how})`, async () => {
      const ada = await makeRecipient({ data: { locale: language } })
      await visit({ javaScriptEnabled }, (page) => leaveAndComeBack(page, ada, language))
    })
  }

  test('going back and reloading neither show a dialog nor change the subscription', async () => {
    const ada = await makeRecipient()
    await visit({}, async (page) => {
      page.on('dialog', () => assert.fail('the browser asked something'))
      await page.goto(`${service.url}/unsubscribe/${ada.token}`)
      await page.getByRole('button').click()
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
      const { length } = await subscriptionEvents(service.core)
      await page.reload()
      assert.equal(await page.getByRole('heading').textContent(), 'You are unsubscribed')
      await page.getByRole('link', { name: 'Manage email preferences' }).click()
      await page.getByRole('button', { name: 'Subscribe' }).waitFor()
      await page.goBack()
      assert.equal(await page.getByRole('heading').textContent(), 'You are unsubscribed')
      assert.equal((await subscriptionEvents(service.core)).length, length)
    })
  })

  test('assistive technology gets the visible content and nothing else', async () => {
    const { token } = await makeRecipient({ email: 'ada@people.test' })
    await visit({}, async (page) => {
      for (const [name, tree] of Object.entries(trees)) {
        await page.goto(`${service.url}/${name}/${token}`)
        const seen = (await page.locator('body').ariaSnapshot()).replaceAll(token, 'TOKEN')
        assert.equal(seen, tree.trim(), name)
        assert.equal(await page.locator('main, h1').count(), 2)
      }
      assert.equal(await page.title(), 'Email preferences · mine')
    })
  })

  test('no page in any language is wider than a narrow screen, even with a doubled font size', async () => {
    const email = `${'long.'.repeat(10)}x@${'long'.repeat(10)}.people.test`
    await visit({ viewport: { width: 320, height: 640 } }, async (page) => {
      for (const language of LANGUAGES) {
        const to = { email: `${language.toLowerCase()}.${email}`, data: { locale: language } }
        const { token } = await makeRecipient(to)
        for (const name of ['unsubscribe', 'manage']) {
          await page.goto(`${service.url}/${name}/${token}`)
          assert.equal(await page.evaluate(overflow), 0, `${name} ${language}`)
          assert.deepEqual(await page.evaluate(smallTargets), [], `${name} ${language}`)
          await page.evaluate(enlargeLetters)
          assert.equal(await page.evaluate(overflow), 0, `${name} ${language}, large letters`)
        }
      }
    })
  })

  test('the links of mail to users work without scripts, on a phone and on a desk', async () => {
    for (const viewport of [
      { width: 320, height: 640 },
      { width: 1280, height: 800 },
    ]) {
      const options = { viewport, javaScriptEnabled: false, cookies: ['pillarbox_device'] }
      await visit(options, async (page) => {
        page.on('dialog', () => assert.fail('the browser asked something'))
        const verify = await makeLink('verify-email')
        await page.goto(verify.url)
        await page.getByRole('button', { name: 'Confirm address' }).click()
        await page.getByRole('heading', { name: 'Your address is confirmed' }).waitFor()
        await page.reload()
        await page.goBack()
        assert.equal(await page.getByRole('heading').textContent(), 'Your address is confirmed')
        assert.notEqual((await findUser(verify.id))?.verifiedAt, null)

        const reset = await makeLink('reset-password')
        await page.goto(reset.url)
        await page.getByLabel('New password').fill('123')
        await page.getByRole('button', { name: 'Save password' }).click()
        assert.equal(page.url(), reset.url, 'the browser knows how long a password is')
        await page.getByLabel('New password').fill('correct horse')
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { name: 'Your password is changed' }).waitFor()
        assert.doesNotMatch(page.url(), /token/)
        const { passwordHash } = (await findUser(reset.id)) ?? {}
        assert.equal(await isPassword('correct horse', passwordHash ?? ''), true)
      })
    }
  })

  test('those pages fit a phone in every language and both colour schemes', async () => {
    const verify = await makeLink('verify-email')
    const reset = await makeLink('reset-password')
    const shown = [verify.url, reset.url, `${reset.url}&refused=1`]
    const ended = ['verify-email', 'reset-password'].map(
      (page) => `${service.url}/auth/${page}?done=1`,
    )
    const urls = [...shown, ...ended, `${service.url}/auth/verify-email?token=old`]
    for (const [index, language] of LANGUAGES.entries()) {
      const colorScheme = index % 2 === 0 ? 'light' : 'dark'
      const options = { viewport: { width: 320, height: 640 }, locale: language }
      await visit({ ...options, colorScheme }, async (page) => {
        for (const url of urls) {
          await page.goto(url)
          const name = `${language} ${url}`
          assert.equal(await page.locator('html').getAttribute('lang'), language)
          assert.equal(await page.evaluate(overflow), 0, name)
          assert.deepEqual(await page.evaluate(smallTargets), [], name)
          const { ratio, text } = await page.evaluate(lowestContrast)
          assert.ok(ratio >= 7, `${name}: "${text}" has ${ratio}`)
          await page.evaluate(enlargeLetters)
          assert.equal(await page.evaluate(overflow), 0, `${name}, large letters`)
        }
      })
    }
  })

  test('text has enough contrast in the light and the dark colour scheme', async () => {
    const on = await makeRecipient()
    const off = await makeRecipient({ subscribed: false })
    const names = ['unsubscribe', 'manage'].flatMap((name) => [
      `${name}/${on.token}`,
      `${name}/${off.token}`,
    ])
    for (const colorScheme of ['light', 'dark'] as const) {
      await visit({ colorScheme }, async (page) => {
        for (const path of [...names, 'manage/nope']) {
          await page.goto(`${service.url}/${path}`)
          const { ratio, text } = await page.evaluate(lowestContrast)
          assert.ok(ratio >= 7, `${path}, ${colorScheme}: "${text}" has ${ratio}`)
        }
      })
    }
  })
})

const makeRecipient = (options: Partial<Parameters<typeof addRecipient>[1]> = {}) =>
  addRecipient(service.core, { projectId: mine.id, ...options })

/** A link that was mailed to a new user. */
async function makeLink(purpose: TokenPurpose): Promise<{ id: string; url: string }> {
  const { core, url } = service
  const { id } = await addUser(core, { verifiedAt: null })
  const token = makeLinkToken()
  const given = { token, purpose, userId: id, at: core.now() }
  await core.store.write((tx) => insertToken(tx, given))
  return { id, url: `${url}/auth/${purpose}?token=${token}` }
}

function findUser(id: string) {
  return service.core.store.read.select().from(users).where(eq(users.id, id)).get()
}

/**
 * Hands over a page of a browser that knows nothing; it must speak to nobody but us. `cookies`: the names of
 * those that it may have in the end.
 */
async function visit(
  { cookies = [], ...options }: BrowserContextOptions & { cookies?: string[] },
  run: (page: Page) => Promise<void>,
): Promise<void> {
  const viewport = { width: 1000, height: 700 }
  await chromium.visit({ viewport, ...options }, async (page) => {
    const complaints: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(`${service.url}/`)) complaints.push(request.url())
    })
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('console', (message) => {
      if (!/status of 404/.test(message.text())) complaints.push(message.text())
    })
    await run(page)
    assert.deepEqual(complaints, [])
    assert.deepEqual(
      (await page.context().cookies()).map(({ name }) => name),
      cookies,
    )
  })
}

async function leaveAndComeBack(page: Page, ada: Recipient, language: Language): Promise<void> {
  const { unsubscribe, unsubscribed, subscribe, subscribed, manage } = textsOf(language).contact
  const before = (await subscriptionEvents(service.core)).length
  await page.goto(`${service.url}/unsubscribe/${ada.token}`)
  assert.equal(await page.locator('html').getAttribute('lang'), language)
  await press(page, unsubscribe.button)
  await page.getByRole('heading', { level: 1, name: unsubscribed.title, exact: true }).waitFor()
  await press(page, unsubscribed.again)
  await page.getByRole('heading', { level: 1, name: subscribe.title, exact: true }).waitFor()
  await press(page, subscribe.button)
  await page.getByRole('heading', { level: 1, name: subscribed.title, exact: true }).waitFor()
  await press(page, manage.link)
  await page.getByText(manage.on, { exact: true }).waitFor()
  await press(page, unsubscribe.button)
  await page.getByText(manage.off, { exact: true }).waitFor()
  await press(page, subscribe.button)
  await page.getByText(manage.on, { exact: true }).waitFor()
  const events = (await subscriptionEvents(service.core)).slice(before)
  assert.deepEqual(
    events.map(({ name, contactId, emailId, data }) => [name.slice(8), contactId, emailId, data]),
    ['unsubscribed', 'subscribed', 'unsubscribed', 'subscribed'].map((name) => [
      name,
      ada.contactId,
      ada.emailId,
      { reason: 'page' },
    ]),
  )
}

/** Goes on with Tab until the focus is there, then presses Enter. */
async function press(page: Page, text: string): Promise<void> {
  for (let tabs = 0; tabs < 4; tabs += 1) {
    await page.keyboard.press('Tab')
    const there = await page.evaluate(focused)
    if (there.text !== text) continue
    assert.equal(there.outline, '3px solid')
    return page.keyboard.press('Enter')
  }
  assert.fail(`"${text}" is not reached by Tab`)
}

const trees = {
  unsubscribe: `
- banner:
  - paragraph: mine
- main:
  - heading "Unsubscribe" [level=1]
  - paragraph:
    - text: Should
    - strong: mine
    - text: stop sending newsletters and offers to
    - strong: ada@people.test
    - text: "?"
  - button "Unsubscribe"
  - navigation:
    - list:
      - listitem:
        - link "Manage email preferences":
          - /url: ../manage/TOKEN`,
  manage: `
- banner:
  - paragraph: mine
- main:
  - heading "Email preferences" [level=1]
  - paragraph: ada@people.test
  - region "Newsletters and offers from mine":
    - heading "Newsletters and offers from mine" [level=2]:
      - text: Newsletters and offers from
      - strong: mine
    - paragraph: Subscribed
    - button "Unsubscribe"`,
} as const
