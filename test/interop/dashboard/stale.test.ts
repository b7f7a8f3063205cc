/** Screens whose news fail: what was read stays, and beside it stands what failed, since when, and the way on. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { findAccessFaults, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

/** What the console says of answers that are errors. */
const EXPECTED = /Failed to load resource/
/** Longer than any screen waits before it asks again. */
const PAUSE_MS = 300_000

const failure = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({
    error: { code, message: `The server says ${code}.`, requestId: 'req-1' },
  }),
})

let made: Promise<string> | undefined

async function makeEmail(): Promise<string> {
  const { receive, send, untilState } = dashboard.program()
  await receive('stale.test')
  const [id = ''] = await send({ to: 'ann@stale.test', subject: 'Still here' })
  await untilState(id, 'delivered')
  return id
}

/** Opens a screen whose clock the test moves. `screen`: the path below the project. */
async function visitAt(screen: string, look: (page: Page) => Promise<void>): Promise<void> {
  const { project, url } = dashboard.program()
  const person = await dashboard.makePerson()
  await dashboard.visit({ person, path: '/app/me', expected: EXPECTED }, async (page) => {
    await page.clock.install()
    await page.goto(new URL(`/app/${project.id}${screen}`, url()).href)
    await look(page)
  })
}

const alertOf = (page: Page) => page.locator('main').getByRole('alert').first()

describe('when news fail', { skip: dashboard.skip }, () => {
  const screens = {
    emails: { path: '/emails', calls: /\/emails\?/, shown: 'Still here' },
    activity: { path: '/activity', calls: /\/activity\?/, shown: 'Still here' },
    'the story of an email': {
      path: '/emails/ID',
      calls: /\/emails\/[\w-]+$/,
      shown: 'Still here',
    },
    'a panel of the overview': { path: '', calls: /\/analytics\/deliverability/, shown: 'Other' },
  }
  for (const [name, { path, calls, shown }] of Object.entries(screens)) {
    test(`${name}: what was there stays, with the failure beside it`, async () => {
      made ??= makeEmail()
      const id = await made
      await visitAt(path.replace('ID', id), async (page) => {
        const there = page.locator('main').getByText(shown).first()
        await there.waitFor()
        const isPage = (url: URL) =>
          calls.test(url.pathname + url.search) && !/\/app\//.test(url.pathname)
        await page.route(isPage, (route) => route.fulfill(failure(500, 'INTERNAL_SERVER_ERROR')))
        await page.clock.fastForward(PAUSE_MS)
        await alertOf(page).getByText('This is as of').waitFor()
        assert.ok(await there.isVisible())
        assert.deepEqual(await findAccessFaults(page), [])
        await page.unroute(isPage)
        await alertOf(page).getByRole('button', { name: 'Try again' }).click()
        await alertOf(page).waitFor({ state: 'detached' })
        assert.ok(await there.isVisible())
      })
    })
  }

  test('a failure that comes again at each poll is read out once', async () => {
    made ??= makeEmail()
    await visitAt(`/emails/${await made}`, async (page) => {
      await page.locator('main').getByText('Still here').first().waitFor()
      let asked = 0
      const isMail = ({ pathname }: URL) => /^\/emails\/[\w-]+$/.test(pathname)
      await page.route(isMail, (route) => {
        asked += 1
        const error = { code: 'INTERNAL_SERVER_ERROR', message: 'no', requestId: `req-${asked}` }
        return route.fulfill({ status: 500, json: { error } })
      })
      await page.reload()
      await alertOf(page).getByText('req-1').waitFor()
      await page.evaluate(`
        heard = []
        new MutationObserver((records) => {
          for (const { target, addedNodes } of records) {
            const element = target.nodeType === 1 ? target : target.parentElement
            const region = element?.closest('[aria-live], [role=alert]')
            if (region?.matches('[role=alert]')) heard.push(target.textContent)
            for (const added of addedNodes) {
              if (added.matches?.('[role=alert]') || added.querySelector?.('[role=alert]')) heard.push('anew')
            }
          }
        }).observe(document.querySelector('main'), { childList: true, characterData: true, subtree: true })`)
      for (const id of ['req-2', 'req-3']) {
        await page.clock.fastForward(PAUSE_MS)
        await alertOf(page).getByText(id).waitFor()
      }
      assert.deepEqual(await page.evaluate('heard'), [])
    })
  })

  test('a server that asks to wait is not asked meanwhile, and then again', async () => {
    made ??= makeEmail()
    await made
    await visitAt('/emails', async (page) => {
      await page.getByText('Still here').first().waitFor()
      let asked = 0
      await page.route(/\/emails\?/, (route) => {
        asked += 1
        const limited = failure(429, 'RATE_LIMIT_EXCEEDED', { 'retry-after': '200' })
        return asked === 1 ? route.fulfill(limited) : route.fallback()
      })
      await page.clock.fastForward(PAUSE_MS)
      const button = alertOf(page).getByRole('button', { name: /^Again in \d+ seconds$/ })
      await button.waitFor()
      assert.ok(await button.isDisabled())
      await page.clock.runFor(150_000)
      assert.equal(asked, 1)
      await page.clock.runFor(60_000)
      await alertOf(page).waitFor({ state: 'detached' })
      assert.ok(asked >= 2)
    })
  })

  test('a server that is busy is asked again by itself, and the page says so', async () => {
    made ??= makeEmail()
    await made
    await visitAt('/emails', async (page) => {
      await page.getByText('Still here').first().waitFor()
      let isBusy = true
      await page.route(/\/emails\?/, (route) => {
        const busy = failure(503, 'EXTERNAL_SERVICE_ERROR', { 'retry-after': '100' })
        return isBusy ? route.fulfill(busy) : route.fallback()
      })
      await page.clock.fastForward(PAUSE_MS)
      await alertOf(page).getByText('The page asks again by itself').waitFor()
      isBusy = false
      await page.clock.runFor(110_000)
      await alertOf(page).waitFor({ state: 'detached' })
    })
  })
})
