/** Several projects in one browser: whose data a screen shows and changes, and what a role or a state forbids. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeKeys } from '../../../src/features/tenancy/accounts/projects/keys.ts'
import { insertProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { eventually } from '../../e2e/program.ts'
import { findAccessFaults, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()

const OTHER = '0199a7c0-0000-7000-8000-00000000ffff'

/** As a click on another project does, before its screen is there. */
const leadElsewhere = (page: Page) =>
  page.evaluate(`history.replaceState(null, '', '/app/${OTHER}')`)

const look = (state: 'hidden' | 'visible') => `
  Object.defineProperty(document, 'hidden', { get: () => ${state === 'hidden'}, configurable: true })
  Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true })
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`

async function openFirstSteps(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('first steps')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
}

/** The projects that the writes of the page name, and the paths of these. */
function listenForWrites(page: Page): string[] {
  const found: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'GET') return
    const { pathname } = new URL(request.url())
    found.push(`${request.headers()['x-project-id']} ${request.method()} ${pathname}`)
  })
  return found
}

/** A server notices a moment later what a command has written: until then it takes the writes of a session. */
async function untilWritesAreRefused(page: Page): Promise<void> {
  const { project, url } = dashboard.program()
  const headers = { origin: new URL(url()).origin, 'x-project-id': project.id }
  await eventually(async () => {
    // Whatever the state of the project, this writes nothing.
    const answer = await page.request.post(`${url()}/suppressions`, { data: {}, headers })
    return answer.status() === 403 || undefined
  })
}

async function makeEmail(name: string): Promise<string> {
  const { receive, send, untilState } = dashboard.program()
  await receive(`${name}.test`)
  const [id = ''] = await send({ to: `ann@${name}.test`, subject: 'Hello' })
  await untilState(id, 'delivered')
  return id
}

describe('a change', { skip: dashboard.skip }, () => {
  test('goes to the project of the email that is shown, wherever the address leads', async () => {
    const id = await makeEmail('shown')
    const { project } = dashboard.program()
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: `/app/PROJECT/emails/${id}` }, async (page) => {
      const writes = listenForWrites(page)
      for (const name of ['Suppress', 'Lift']) {
        await page.getByRole('button', { name }).click()
        await leadElsewhere(page)
        await page.getByRole('dialog').getByRole('button', { name }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      assert.deepEqual(writes, [
        `${project.id} POST /suppressions`,
        `${project.id} DELETE /suppressions`,
      ])
    })
  })

  test('sends the first mail from the project whose first steps are shown', async () => {
    const { project } = dashboard.program()
    await dashboard.program().receive('first.test')
    const person = await dashboard.makePerson()
    await dashboard.visit({ person, path: '/app/PROJECT' }, async (page) => {
      await openFirstSteps(page)
      await page.getByLabel('To', { exact: true }).fill('ann@first.test')
      const writes = listenForWrites(page)
      await leadElsewhere(page)
      await page.getByRole('button', { name: 'Send it from here' }).click()
      await page.getByText('ann@first.test').first().waitFor()
      assert.deepEqual(writes, [`${project.id} POST /emails/test`])
    })
  })
})

describe('what others change meanwhile', { skip: dashboard.skip }, () => {
  test('a role: the page follows when somebody comes back to it, without a reload', async () => {
    const { project, command, url } = dashboard.program()
    const person = await dashboard.makePerson('ADMIN')
    await dashboard.visit({ person, path: '/app/me' }, async (page) => {
      await page.clock.install()
      await page.goto(new URL(`/app/${project.id}`, url()).href)
      await openFirstSteps(page)
      const button = page.getByRole('button', { name: 'New secret key' })
      assert.ok(await button.isEnabled())
      await page.evaluate('globalThis.isKept = true')
      const role = ['--email', person.address, '--role', 'MEMBER']
      await command('project', 'member', 'role', project.id, ...role)
      await page.evaluate(look('hidden'))
      await page.clock.fastForward(120_000)
      await page.evaluate(look('visible'))
      await page.getByText('This needs the role Admin.').waitFor()
      assert.ok(await button.isDisabled())
      assert.equal(await page.evaluate('globalThis.isKept'), true)
    })
  })

  test('a project that is disabled: a refusal shows the reason, reading works, writing is off', async () => {
    const id = await makeEmail('closed')
    const { project, run } = dashboard.program()
    const person = await dashboard.makePerson()
    const expected = /status of 403/
    const path = `/app/PROJECT/emails/${id}`
    await dashboard.visit({ person, path, expected }, async (page) => {
      const button = page.getByRole('button', { name: 'Suppress the address' })
      await button.click()
      await run('project', 'update', project.id, '--disable', 'PHISHING_DETECTED')
      try {
        await untilWritesAreRefused(page)
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('button', { name: 'Suppress' }).click()
        await dialog.getByRole('alert').waitFor()
        await page.getByText('its mail looked like phishing').first().waitFor()
        await page.keyboard.press('Escape')
        assert.ok(await button.isDisabled())
        await page.getByRole('link', { name: 'Emails' }).first().click()
        await page.getByRole('link', { name: 'Hello' }).first().waitFor()
        await openFirstSteps(page)
        for (const name of ['Send it from here', 'New secret key']) {
          assert.ok(await page.getByRole('button', { name }).isDisabled(), name)
        }
        assert.deepEqual(await findAccessFaults(page), [])
      } finally {
        await run('project', 'update', project.id, '--enable')
      }
    })
  })

  test('a reset: one page with its progress, which opens again by itself', async () => {
    const { project } = dashboard.program()
    const person = await dashboard.makePerson()
    const expected = /status of 409/
    await dashboard.visit({ person, path: '/app/PROJECT/emails', expected }, async (page) => {
      await page.locator('h1').waitFor()
      let isRunning = true
      const details = { resource: 'project', state: 'resetting' }
      const error = { code: 'CONFLICT', message: 'The project is being reset.', details }
      await page.route(/\/activity\?/, (route) =>
        isRunning ? route.fulfill({ status: 409, json: { error } }) : route.fallback(),
      )
      await page.route(/\/reset$/, (route) => {
        const state = isRunning ? 'running' : 'done'
        return route.fulfill({ json: { success: true, data: { state, progress: 40 } } })
      })
      await page.getByRole('link', { name: 'Activity' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'This project is being reset' }).waitFor()
      // The page is there before it has asked how far the reset is.
      await page.locator('progress[value="40"]').waitFor()
      assert.equal(await page.locator('h1').count(), 1)
      assert.deepEqual(await findAccessFaults(page), [])
      isRunning = false
      await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
      assert.match(page.url(), new RegExp(`${project.id}/activity`))
    })
  })
})

test('a project of others looks as one that does not exist', { skip: dashboard.skip }, async () => {
  const { core, project } = dashboard.program()
  const owner = await dashboard.makePerson(null)
  const others = await core.store.write((tx) =>
    insertProject(tx, {
      ...{ name: 'Secret plans', ownerId: owner.id, keys: makeKeys(), areKeysSandbox: false },
      at: core.now(),
    }),
  )
  const id = await makeEmail('others')
  const person = await dashboard.makePerson()
  const read = async (path: string) => {
    let text = ''
    const expected = /status of 404/
    await dashboard.visit({ person, path, expected }, async (page) => {
      await page.getByText('This page does not exist').waitFor()
      await page.getByRole('main').getByRole('button', { name: 'Search or jump' }).click()
      await page.getByRole('combobox', { name: 'Search or jump' }).waitFor()
      await page.keyboard.press('Escape')
      text = (await page.locator('main').innerText()) ?? ''
    })
    return text
  }
  const missing = await read(`/app/${OTHER}`)
  assert.doesNotMatch(missing, /Secret/)
  assert.equal(await read(`/app/${others}`), missing)
  assert.equal(await read(`/app/${others}/emails/${id}`), missing)
  assert.equal(
    await read(`/app/${project.id}/emails/${OTHER}`),
    await read(`/app/PROJECT/emails/${others}`),
  )
})
