/** What a browser loads: how many files for each screen, and when. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { findManifest } from '../../../src/http/dashboard/files.ts'
import { addMember } from '../../session.ts'
import { type Person, settled, useDashboard } from './dashboard.ts'

const PASSWORD = 'correct horse battery'

const dashboard = useDashboard()
const has = { skip: dashboard.skip }

let prepared: Promise<{ person: Person; email: string }> | undefined

/** A person whose project has sent an email. */
function prepare(): Promise<{ person: Person; email: string }> {
  prepared ??= (async () => {
    const program = dashboard.program()
    await program.receive('loading.test')
    const [email = ''] = await program.send({ to: 'ann@loading.test', subject: 'To be loaded' })
    await program.untilState(email, 'delivered')
    return { person: await dashboard.makePerson(), email }
  })()
  return prepared
}

/** The files that the page asks for from now on, by their names without digests. */
function listenForFiles(page: Page): string[] {
  const files: string[] = []
  page.on('request', (request) => {
    const [, name] = /\/app\/assets\/(.+?)-\w+\.\w+$/.exec(request.url()) ?? []
    if (name !== undefined) files.push(name)
  })
  return files
}

/** Opens the address with an empty cache, and waits for what `shows` names. */
async function openCold(
  address: string,
  shows: string,
  options: { person?: Person; language?: string } = {},
): Promise<{ files: string[]; late: string[] }> {
  const found = { files: [] as string[], late: [] as string[] }
  // A page without scripts, so that all files of the screen are seen.
  await dashboard.visit({ ...options, path: '/app/assets/licences.txt' }, async (page) => {
    const files = listenForFiles(page)
    const { project, url } = dashboard.program()
    await page.goto(new URL(address.replace('PROJECT', project.id), url()).href)
    await page.locator(shows).first().waitFor()
    await page.waitForLoadState('networkidle')
    const html = await page.evaluate<string>("fetch('').then((response) => response.text())")
    found.files = files
    found.late = files.filter((name) => !html.includes(`/${name}-`))
  })
  return found
}

describe('a screen that is opened by its address', has, () => {
  const screens = [
    { name: 'the overview', address: '/app/PROJECT', shows: 'svg rect', most: 6 },
    { name: 'the list of emails', address: '/app/PROJECT/emails', shows: 'tbody a', most: 7 },
    { name: 'the story of an email', address: '/app/PROJECT/emails/EMAIL', shows: 'h1', most: 6 },
    { name: 'the account', address: '/app/me', shows: 'input[role=combobox]', most: 7 },
  ]
  for (const { name, address, shows, most } of screens) {
    test(`is few files, all of which its page names: ${name}`, async () => {
      const { person, email } = await prepare()
      const at = address.replace('EMAIL', email)
      const { files, late } = await openCold(at, shows, { person })
      assert.ok(files.length + 1 <= most, `${files}`)
      assert.deepEqual(late, [])
    })
  }

  test('is few files for somebody who signs in, and few more up to the overview', async () => {
    await prepare()
    const { files, late } = await openCold('/app/login', 'input[name=password]')
    assert.ok(files.length + 1 <= 6, `${files}`)
    assert.deepEqual(late, [])
    const { core, project } = dashboard.program()
    const address = 'ada@people.test'
    const { id } = await createUser(core, { address, password: PASSWORD, isOperator: false })
    await addMember(core, { projectId: project.id, userId: id, role: 'MEMBER' })
    await dashboard.visit({ path: '/app/login' }, async (page) => {
      await page.getByLabel('Address').fill(address)
      await page.getByLabel('Password').fill(PASSWORD)
      const more = listenForFiles(page)
      await page.keyboard.press('Enter')
      await page.locator('svg rect').first().waitFor()
      assert.deepEqual(more.toSorted(), ['chart', 'overview'])
    })
  })

  test('is one file more in another language than English', async () => {
    const { files, late } = await openCold('/app/login', 'input[name=password]', { language: 'de' })
    assert.ok(files.length + 1 <= 7, `${files}`)
    assert.deepEqual(late, ['de'])
  })
})

describe('the part of a screen', has, () => {
  const approaches: Record<string, (page: Page) => Promise<void>> = {
    'points at': (page) => navLink(page, 'Emails').hover(),
    'gives the focus to': (page) => navLink(page, 'Emails').focus(),
    touches: async (page) => {
      const session = await page.context().newCDPSession(page)
      const box = await navLink(page, 'Emails').boundingBox()
      const { x = 0, y = 0 } = box ?? {}
      const touchPoints = [{ x: x + 10, y: y + 10 }]
      await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    },
  }
  for (const [name, approach] of Object.entries(approaches)) {
    test(`is loaded, all files at once, when somebody ${name} a link to it`, async () => {
      const { person } = await prepare()
      await dashboard.visit({ person, path: '/app/me' }, async (page) => {
        await settled(page)
        const files = listenForFiles(page)
        const loaded = page.waitForResponse(/\/assets\/emails-/)
        const { asked } = await holdFiles(page, '/:project/emails')
        await approach(page)
        await asked
        await (await loaded).finished()
        const before = files.filter((one) => one === 'emails').length
        assert.equal(before, 1)
        await page.keyboard.press('Escape')
        await navLink(page, 'Emails').click()
        await page.locator('tbody a').first().waitFor()
        assert.equal(files.filter((one) => one === 'emails').length, 1)
        assert.equal(files.length, filesOf('/:project/emails').length, `${files}`)
      })
    })
  }

  test('is loaded at the click where the browser saves data', async () => {
    const { person } = await prepare()
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      await page.addInitScript(
        "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })",
      )
      await page.reload()
      await settled(page)
      const files = listenForFiles(page)
      await navLink(page, 'Emails').hover()
      await navLink(page, 'Activity').focus()
      await navLink(page, 'Emails').click()
      await page.locator('tbody a').first().waitFor()
      assert.ok(files.includes('emails') && !files.includes('activity'), `${files}`)
    })
  })

  test('that cannot be loaded ahead is loaded by the click', async () => {
    const { person } = await prepare()
    const expected = /Failed to load resource|net::ERR_/
    await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
      await settled(page)
      await page.route(/\/assets\/emails-/, (route) => route.abort(), { times: 1 })
      const failed = page.waitForEvent('requestfailed')
      await navLink(page, 'Emails').hover()
      await failed
      await navLink(page, 'Emails').click()
      await page.locator('tbody a').first().waitFor()
      assert.equal(await page.getByText('A newer version is running.').count(), 0)
    })
  })

  test('whose failure the browser keeps comes with the page anew, once for each try', async () => {
    const { person } = await prepare()
    const expected = /Failed to load resource|net::ERR_/
    await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
      await settled(page)
      let isKept = true
      // Imports fail, and the server has the file all the same.
      await page.route(/\/assets\/emails-/, (route) =>
        isKept && route.request().resourceType() === 'script' ? route.abort() : route.continue(),
      )
      const loads: string[] = []
      page.on('request', (request) => {
        if (request.isNavigationRequest()) loads.push(new URL(request.url()).pathname)
      })
      await navLink(page, 'Emails').click()
      const again = page.getByRole('button', { name: 'Try again' })
      await again.waitFor()
      assert.deepEqual(loads, [])
      const loaded = page.waitForEvent('load')
      await again.click()
      await loaded
      // The page is new, and waits for the person: it does not load itself again and again.
      await again.waitFor()
      assert.equal(loads.length, 1)
      isKept = false
      await again.click()
      await page.locator('tbody a').first().waitFor()
      assert.ok(loads.length <= 2, `${loads}`)
    })
  })
})

const filesOf = (address: string) =>
  findManifest()?.screens.find(({ path }) => path === address)?.files ?? []

/** From now on no file comes before the page has asked for all files of the screen. Resolves then. */
async function holdFiles(page: Page, address: string): Promise<{ asked: Promise<void> }> {
  const missing = new Set(filesOf(address))
  assert.ok(missing.size > 1)
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  await page.route('**/app/assets/*', async (route) => {
    missing.delete(route.request().url().replace(/.*\//, ''))
    if (missing.size === 0) resolve()
    await asked
    await route.continue()
  })
  return { asked }
}

function navLink(page: Page, name: string) {
  return page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })
}
