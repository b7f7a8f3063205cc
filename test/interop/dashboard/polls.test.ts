/** How often an open page asks: by a clock that the test moves, so that requests are counted and no time passes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { insertDomain } from '../../../src/features/mail/domains/domains.ts'
import { makeDomainKeys } from '../../../src/features/mail/domains/keys.ts'
import { makeKeys } from '../../../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { type Person, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

/** What an idle page may ask in a minute. */
const IDLE_LIMIT = 12
const STEP_MS = 5_000
const MINUTE_MS = 60_000

/** In the page: the addresses that were asked, and how many answers are awaited. */
const COUNTER = `
  globalThis.asked = []
  globalThis.awaited = 0
  const plain = globalThis.fetch
  globalThis.fetch = async (...input) => {
    asked.push(String(input[0]))
    awaited += 1
    try {
      return await plain(...input)
    } finally {
      awaited -= 1
    }
  }`

const look = (state: 'hidden' | 'visible') => `
  Object.defineProperty(document, 'hidden', { get: () => ${state === 'hidden'}, configurable: true })
  Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true })
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`
const HIDE = look('hidden')
const SHOW = look('visible')

/** Opens the screen under a clock that stands. */
async function openAt(page: Page, path: string): Promise<void> {
  await page.addInitScript(COUNTER)
  await page.clock.install()
  await page.goto(new URL(path, dashboard.program().url()).href)
  await page.locator('h1').waitFor()
  await page.clock.pauseAt(Date.now() + MINUTE_MS)
  await answered(page)
}

async function answered(page: Page): Promise<void> {
  while (Number(await page.evaluate('awaited')) > 0) await turn()
}

/** Lets time pass in steps, with all answers between them. */
async function pass(page: Page, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += STEP_MS) {
    await page.clock.runFor(STEP_MS)
    await answered(page)
  }
}

const readAsked = (page: Page) => page.evaluate('asked.splice(0)') as Promise<string[]>

async function makeEmail(): Promise<string> {
  const { receive, send, untilState } = dashboard.program()
  await receive('polled.test')
  const [id = ''] = await send({ to: 'ann@polled.test' })
  await untilState(id, 'delivered')
  return id
}

/** A project of the person whose domain waits for its records. */
async function makeNewProject({ id: ownerId }: Person): Promise<string> {
  const { core } = dashboard.program()
  const keys = makeKeys()
  const domainKeys = await makeDomainKeys(core)
  const at = core.now()
  return core.store.write(async (tx) => {
    const projectId = await insertProject(tx, {
      ...{ name: 'New', ownerId, keys, areKeysSandbox: false, at },
    })
    await insertDomain(tx, {
      ...{ projectId, domain: 'waits.test', keys: domainKeys, isTrusted: false, at },
    })
    return projectId
  })
}

describe('an open page', { skip: dashboard.skip }, () => {
  test(`asks at most ${IDLE_LIMIT} times a minute when nobody acts, and not at all when hidden`, async () => {
    const id = await makeEmail()
    const person = await dashboard.makePerson('OWNER', true)
    const { project } = dashboard.program()
    const home = `/app/${project.id}`
    const screens = {
      ...{ overview: `${home}?range=24h`, emails: `${home}/emails`, activity: `${home}/activity` },
      ...{ story: `${home}/emails/${id}`, 'first steps': `/app/${await makeNewProject(person)}` },
    }
    for (const [name, path] of Object.entries(screens)) {
      // The checks of the server answer 503 while one has failed.
      const expected = /status of 503/
      await dashboard.visit({ person, path: '/app/me', expected }, async (page) => {
        await openAt(page, path)
        await pass(page, MINUTE_MS)
        assert.notEqual((await readAsked(page)).length, 0)
        await pass(page, MINUTE_MS)
        const asked = await readAsked(page)
        assert.ok(asked.length > 0 && asked.length <= IDLE_LIMIT, `${name}: ${asked.join(' ')}`)
        await page.evaluate(HIDE)
        await answered(page)
        await readAsked(page)
        await page.clock.runFor(61 * MINUTE_MS)
        await answered(page)
        assert.deepEqual(await readAsked(page), [], name)
      })
    }
  })

  test('stops its search through empty pages while it is hidden, and goes on', async () => {
    const person = await dashboard.makePerson()
    const { project } = dashboard.program()
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      const isList = ({ pathname }: URL) => pathname === '/emails'
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route(isList, async (route) => {
        if (route.request().url().includes('cursor=')) await held
        return route.fulfill({ json: { data: [], hasMore: true, cursor: 'next' } })
      })
      const further = page.waitForRequest(/cursor=/)
      await page.goto(new URL(`/app/${project.id}/emails?q=rare`, dashboard.program().url()).href)
      await further
      await page.evaluate(COUNTER)
      await page.evaluate(HIDE)
      const answer = page.waitForResponse(/cursor=/)
      release()
      await answer
      await answered(page)
      assert.deepEqual(await readAsked(page), [])
      const next = page.waitForRequest(/cursor=/)
      await page.evaluate(SHOW)
      await next
    })
  })
})
