/** A session that ends on the server while a form is sent: nothing typed is lost, and the request goes out once more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { endSessions } from '../../../src/features/tenancy/accounts/sessions/sessions.ts'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { eventually } from '../../e2e/program.ts'
import { addMember } from '../../session.ts'
import { useDashboard } from './dashboard.ts'

const PASSWORD = 'correct horse battery'
const CHANGED = 'another horse battery'

const dashboard = useDashboard()

type Account = { id: string; address: string; password: string; recoveryCodes: string[] }

type Write = {
  method: string
  path: RegExp
  submit(): Promise<void>
  /** What was typed, as it stands on the page while the session is over. */
  typed(): Promise<string>
}

/** Submits as the session ends, signs in over the page; returns the typed text and the statuses of the request. */
async function submitSignedOut(page: Page, account: Account, write: Write) {
  const { core } = dashboard.program()
  const statuses: number[] = []
  const isWrite = (method: string, url: string) =>
    method === write.method && write.path.test(new URL(url).pathname)
  page.on('response', (response) => {
    if (isWrite(response.request().method(), response.url())) statuses.push(response.status())
  })
  let hasEnded = false
  await page.route(write.path, async (route) => {
    if (isWrite(route.request().method(), route.request().url()) && !hasEnded) {
      hasEnded = true
      await core.store.write((tx) => endSessions(tx, account.id))
    }
    await route.fallback()
  })
  await write.submit()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  const password = dialog.getByLabel('Password')
  await password.waitFor()
  const typed = await write.typed()
  assert.equal(await dialog.getByLabel('Address').inputValue(), account.address)
  await password.fill(account.password)
  await page.keyboard.press('Enter')
  const code = account.recoveryCodes.shift()
  if (code !== undefined) {
    await dialog.getByLabel('Code').fill(code)
    await page.keyboard.press('Enter')
  }
  await dialog.waitFor({ state: 'detached' })
  await eventually(() => (statuses.length > 1 ? true : undefined))
  await page.unroute(write.path)
  return { typed, statuses }
}

/** By the API, as the account does it. */
async function turnSecondFactorOn(page: Page, account: Account): Promise<void> {
  const url = (path: string) => new URL(path, dashboard.program().url()).href
  const headers = { origin: new URL(page.url()).origin }
  const { password } = account
  const started = await page.request.post(url('/users/@me/totp'), { data: { password }, headers })
  const code = new TOTP({ secret: (await started.json()).secret }).generate()
  const data = { code }
  const confirmed = await page.request.post(url('/users/@me/totp/confirm'), { data, headers })
  assert.equal(confirmed.status(), 200)
  account.recoveryCodes = (await confirmed.json()).recoveryCodes
}

test('a form that meets the end of the session is sent once more, with all that was typed', {
  skip: dashboard.skip,
}, async () => {
  const { core, project, receive, untilState } = dashboard.program()
  await receive('kept.test')
  const address = 'grace@people.test'
  const { id } = await createUser(core, { address, password: PASSWORD, isOperator: false })
  await addMember(core, { projectId: project.id, userId: id, role: 'MEMBER' })
  const account: Account = { id, address, password: PASSWORD, recoveryCodes: [] }
  const expected = /status of 401/
  await dashboard.visit({ path: '/app/login', expected }, async (page) => {
    await page.getByLabel('Address').fill(address)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')

    // The first mail.
    const to = page.getByLabel('To', { exact: true })
    await to.fill('ada@kept.test')
    const sent = await submitSignedOut(page, account, {
      ...{ method: 'POST', path: /\/emails\/test$/, typed: () => to.inputValue() },
      submit: () => page.getByRole('button', { name: 'Send it from here' }).click(),
    })
    assert.deepEqual(sent, { typed: 'ada@kept.test', statuses: [401, 200] })
    await page.getByText('Delivered to ada@kept.test').first().waitFor()
    assert.equal(await to.inputValue(), 'ada@kept.test')

    // A suppression, with the second factor.
    await turnSecondFactorOn(page, account)
    await page.getByRole('link', { name: 'Read its story' }).first().click()
    await page.getByRole('button', { name: 'Suppress the address' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suppress ada@kept.test' })
    const suppressed = await submitSignedOut(page, account, {
      ...{ method: 'POST', path: /\/suppressions$/ },
      typed: async () => (await dialog.getByRole('heading').textContent()) ?? '',
      submit: () => dialog.getByRole('button', { name: 'Suppress', exact: true }).click(),
    })
    assert.deepEqual(suppressed, { typed: 'Suppress ada@kept.test', statuses: [401, 200] })
    await page.getByRole('button', { name: 'Lift the suppression' }).waitFor()
    const [refused = ''] = await dashboard.program().send({ to: 'ada@kept.test' })
    await untilState(refused, 'suppressed')

    // A new project: one, and not two.
    await page.goto(new URL('/app/projects/new', page.url()).href)
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Larkspur')
    const made = await submitSignedOut(page, account, {
      ...{ method: 'POST', path: /\/users\/@me\/projects$/, typed: () => name.inputValue() },
      submit: () => page.keyboard.press('Enter'),
    })
    assert.deepEqual(made, { typed: 'Larkspur', statuses: [401, 201] })
    await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
    const mine = await page.request.get(new URL('/users/@me/projects', page.url()).href)
    const names = (await mine.json()).map((one: { name: string }) => one.name)
    assert.equal(names.filter((one: string) => one === 'Larkspur').length, 1)

    // The account.
    await page.goto(new URL('/app/me', page.url()).href)
    await page.getByLabel('Present password').first().fill(PASSWORD)
    await page.getByLabel('New password').fill(CHANGED)
    const changed = await submitSignedOut(page, account, {
      ...{ method: 'PATCH', path: /\/users\/@me$/ },
      typed: () => page.getByLabel('New password').inputValue(),
      submit: () => page.keyboard.press('Enter'),
    })
    assert.deepEqual(changed, { typed: CHANGED, statuses: [401, 200] })
    await page.getByText('The password is changed').waitFor()
    for (const { statuses } of [sent, suppressed, made, changed]) {
      assert.equal(statuses.length, 2)
    }
  })
})
