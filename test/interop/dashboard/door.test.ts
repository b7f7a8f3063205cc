/** Signing in, the end of a session while a page is open, and the account. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { addMember } from '../../session.ts'
import { findAccessFaults, findWideElements, useDashboard } from './dashboard.ts'

const PASSWORD = 'correct horse battery'

const dashboard = useDashboard()
const has = { skip: dashboard.skip }

/** A user with a password, who is a member of the project. */
async function makeUser(name: string): Promise<string> {
  const { core, project } = dashboard.program()
  const address = `${name}@people.test`
  const { id } = await createUser(core, { address, password: PASSWORD, isOperator: false })
  await addMember(core, { projectId: project.id, userId: id, role: 'MEMBER' })
  return address
}

async function signIn(page: Page, address: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Address').fill(address)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

const zone = (page: Page) => page.getByRole('combobox', { name: 'Time zone' })

async function chooseBerlin(page: Page): Promise<void> {
  await zone(page).click()
  await page.keyboard.type('berl')
  await page.getByRole('option', { name: 'Europe/Berlin' }).click()
}

const nameOfFocus = (page: Page) => page.evaluate('document.activeElement.name')

describe('the doors', has, () => {
  const sizes = [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const
  for (const [width, scheme] of sizes) {
    test(`have no fault that axe finds, at ${width} pixels, ${scheme}`, async () => {
      await dashboard.visit({ path: '/app/login?error=expired', width, scheme }, async (page) => {
        for (const path of ['login?error=expired', 'signup', 'forgot', 'setup']) {
          if (!page.url().endsWith(path)) await dashboard.open(page, `/app/${path}`)
          await page.locator('h1').waitFor()
          assert.deepEqual(await findAccessFaults(page), [], path)
          assert.deepEqual(await findWideElements(page), [])
        }
      })
    })
  }

  test('let somebody in whose browser has the cookie of a session that has ended', async () => {
    const address = await makeUser('returning')
    const person = { id: '', address, cookie: 'pillarbox_session=ended' }
    const expected = /status of 401/
    await dashboard.visit({ person, path: '/app/login', expected }, async (page) => {
      await signIn(page, address)
      await page.locator('main.sheet h1').waitFor()
    })
  })

  test('say why a login with a provider failed, in the language of the reader', async () => {
    const forged = encodeURIComponent('<img src=x onerror=alert(1)>')
    await dashboard.visit({ path: '/app/login?error=expired', language: 'de' }, async (page) => {
      await page.getByRole('alert').getByText('hat zu lange gedauert').waitFor()
      await page.getByRole('button', { name: 'English' }).click()
      await page.getByRole('alert').getByText('took too long').waitFor()
    })
    await dashboard.visit({ path: `/app/login?error=${forged}` }, async (page) => {
      await page.getByRole('alert').getByText('The sign-in failed.').waitFor()
    })
  })
})

describe('the sign-in', has, () => {
  let address = ''
  before(async () => {
    address = await makeUser('ada')
  })

  test('shows faults at their fields, and leads to where the person was going', async () => {
    await dashboard.visit({ path: '/app/me?a=b' }, async (page) => {
      const button = page.getByRole('button', { name: 'Sign in', exact: true })
      await button.click()
      assert.deepEqual(await page.locator('.fault').allTextContents(), [
        ...['Fill this in.', 'Fill this in.'],
      ])
      assert.equal(await nameOfFocus(page), 'email')
      await signIn(page, address, 'wrong')
      await page.getByText('The email address or the password is wrong.').waitFor()
      assert.equal(await nameOfFocus(page), 'password')
      const password = page.getByLabel('Password')
      assert.equal(await password.getAttribute('aria-invalid'), 'true')
      const described = (await password.getAttribute('aria-describedby')) ?? ''
      assert.match((await page.locator(`#${described}`).textContent()) ?? '', /is wrong/)
      await signIn(page, address)
      await page.waitForURL(/\/app\/me\?a=b$/)
    })
  })

  test('leads to no other site, whatever the address says', async () => {
    // Each in a browser that knows nothing: one that had a session would ask for it.
    for (const next of ['https://evil.test/', '//evil.test/app', '/\\evil.test', '/auth/logout']) {
      const path = `/app/login?next=${encodeURIComponent(next)}`
      await dashboard.visit({ path }, async (page) => {
        await signIn(page, address)
        await page.waitForURL(/\/app\/[0-9a-f-]{36}$/)
        assert.ok(page.url().startsWith(dashboard.program().url()))
      })
    }
  })

  test('is sent once, however often the button is pressed', async () => {
    await dashboard.visit({ path: '/app/login' }, async (page) => {
      let sent = 0
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/auth/login', async (route) => {
        sent += 1
        await held
        await route.continue()
      })
      await signIn(page, address)
      await page.locator('button[aria-busy=true]').waitFor()
      await page.keyboard.press('Enter')
      await page.locator('button[type=submit]').click({ force: true })
      release()
      await page.waitForURL(/\/app\/[0-9a-f-]{36}$/)
      assert.equal(sent, 1)
    })
  })
})

test(
  'a session that ends while somebody types loses no text, and the call is repeated',
  has,
  async () => {
    const address = await makeUser('grace')
    const expected = /status of 401/
    await dashboard.visit({ path: '/app/login?next=/app/me', expected }, async (page) => {
      await signIn(page, address)
      await page.getByLabel('New password').fill('typed text')
      await page.context().clearCookies()
      await chooseBerlin(page)
      const dialog = page.getByRole('dialog', { name: 'Sign in again' })
      await dialog.waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
      await page.keyboard.press('Escape')
      await page.keyboard.press('Escape')
      assert.equal(await dialog.getByLabel('Address').inputValue(), address)
      await dialog.getByLabel('Password').fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByText('Saved', { exact: true }).waitFor()
      assert.equal(await dialog.count(), 0)
      assert.equal(await page.getByLabel('New password').inputValue(), 'typed text')
      assert.equal(await zone(page).inputValue(), 'Europe/Berlin')
    })
  },
)

test('another user who signs in over the page gets a page of their own', has, async () => {
  const [first, second] = [await makeUser('alan'), await makeUser('kurt')]
  const expected = /status of 401/
  await dashboard.visit({ path: '/app/login?next=/app/me', expected }, async (page) => {
    await signIn(page, first)
    await zone(page).waitFor()
    await page.context().clearCookies()
    const calls: string[] = []
    await chooseBerlin(page)
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Address').fill(second)
    page.on('request', (request) => calls.push(request.method()))
    await dialog.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/app\/[0-9a-f-]{36}$/)
    await page.getByText(second).first().waitFor()
    assert.ok(!calls.includes('PATCH'))
  })
})

test(
  'a second factor is turned on by its QR code, and asked for in the same box',
  has,
  async () => {
    const address = await makeUser('edith')
    const expected = /status of 422/
    await dashboard.visit({ path: '/app/login?next=/app/me', expected }, async (page) => {
      await signIn(page, address)
      await page.getByRole('button', { name: 'Turn on' }).click()
      const section = page.locator('section', { hasText: 'Second factor' })
      await section.getByLabel('Present password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
      const secret = (await section.locator('code').textContent()) ?? ''
      await section.getByRole('textbox', { name: 'Code' }).fill('000000')
      await page.keyboard.press('Enter')
      await page.getByText('This code is wrong').waitFor()
      const code = new TOTP({ secret }).generate()
      await section.getByRole('textbox', { name: 'Code' }).fill(code)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
      const [recovery = ''] = await section.getByRole('listitem').allTextContents()
      await page.getByRole('button', { name: 'I have kept them' }).click()
      await page.getByRole('navigation').getByRole('button', { name: 'Sign out' }).click()

      await page.waitForURL(/\/app\/login$/)
      await signIn(page, address)
      await page.getByLabel('Code').fill(code)
      await page.keyboard.press('Enter')
      await page.getByText('This code is wrong, or was used before.').waitFor()
      await page.getByLabel('Code').fill(recovery)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/app\/[0-9a-f-]{36}$/)
    })
  },
)

test('language, theme and density of the account stay after a reload', has, async () => {
  const address = await makeUser('lise')
  await dashboard.visit({ path: '/app/login?next=/app/me' }, async (page) => {
    await signIn(page, address)
    await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
    await page.getByText('Gespeichert').waitFor()
    await page.getByLabel('Farben').selectOption('dark')
    await page.getByLabel('Dichte').selectOption('comfortable')
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Konto' }).waitFor()
    const html = page.locator('html')
    const shown = await Promise.all(
      ['lang', 'data-theme', 'data-density'].map((name) => html.getAttribute(name)),
    )
    assert.deepEqual(shown, ['de', 'dark', 'comfortable'])
    assert.deepEqual(await findAccessFaults(page), [])
  })
})
