/**
 * The first run, by somebody who has nothing but a browser: in the sandbox by the credentials of the start, and
 * elsewhere by the link that the start leaves. Both end with a mail that arrived, on the page that sent it.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { type App, startApp } from '../../../src/app.ts'
import { silentLog } from '../../../src/base/log.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { prepareDataDir } from '../../../src/config/secret.ts'
import { createInlineThreads } from '../../../src/store/read/thread.ts'
import { type FakeDns, startDnsServer } from '../../fakes/dns-server.ts'
import { type Sink, startSink } from '../../fakes/smtp-sink.ts'
import { useChromium } from '../http/chromium.ts'
import { findAccessFaults, listenForFaults } from './dashboard.ts'

/** All that the browser keeps of the page. */
const KEPT =
  'JSON.stringify([location.href, history.state, {...localStorage}, {...sessionStorage}])'

const PASSWORD = 'correct horse battery staple'

const chromium = useChromium()

describe('the first run', { skip: chromium.skip }, () => {
  let dns: FakeDns
  let smarthost: Sink
  before(async () => {
    await buildDashboard()
    dns = await startDnsServer()
    smarthost = await startSink({ host: '127.0.0.9' })
  })
  after(() => Promise.all([dns?.stop(), smarthost?.stop()]))

  test('in the sandbox, goes from the sign-in to a mail that was read, on one page', async (t) => {
    const { app } = await startFresh(t, { PILLARBOX_DELIVERY__MODE: 'sandbox' })
    assert.ok(app.sandbox?.kind === 'created')
    const { user } = app.sandbox
    await chromium.visit({ locale: 'en' }, async (page) => {
      const faults = listenForFaults(page, app.ready.http)
      await page.goto(`${app.ready.http}/app/login`)
      await page.getByLabel('Address').fill(user.address)
      await page.getByLabel('Password').fill(user.password)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
      await page.getByText(`Signed in as ${user.address}`).waitFor()
      assert.deepEqual(await findAccessFaults(page), [])
      const address = page.url()
      await page.getByRole('button', { name: 'Send it from here' }).click()
      await page
        .getByText(/^Delivered to /)
        .first()
        .waitFor()
      assert.equal(page.url(), address)
      await page.getByRole('link', { name: 'Read its story' }).first().click()
      await page.getByText('stored in the sandbox').first().waitFor()
      assert.deepEqual(faults, [])
    })
  })

  test('elsewhere, goes from the link to a mail that the relay took; the link works once', async (t) => {
    const { app, folder } = await startFresh(t, {
      PILLARBOX_DELIVERY__MODE: 'relay',
      PILLARBOX_DELIVERY__RELAY__HOST: smarthost.host,
      PILLARBOX_DELIVERY__RELAY__PORT: String(smarthost.port),
      PILLARBOX_DELIVERY__RELAY__TLS: 'none',
      PILLARBOX_DNS__SERVERS: JSON.stringify([dns.address]),
    })
    const { http } = app.ready
    const link = (await readFile(path.join(folder, 'setup-link'), 'utf8')).trim()
    const token = new URL(link).hash
    await chromium.visit({ locale: 'en' }, async (page) => {
      const faults = listenForFaults(page, http)
      await page.goto(`${http}/app/setup`)
      await page.getByRole('heading', { level: 1, name: 'This server is not set up yet' }).waitFor()
      await page.goto(`${http}/app/setup${token}`)
      await page.getByLabel('Address').fill('ada@example.org')
      await page.getByLabel('Password').fill(PASSWORD)
      assert.equal(new URL(page.url()).hash, '')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Name and mode of the server' }).waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('heading', { level: 1, name: 'Is everything ready?' }).waitFor()
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByLabel('Name of the project').fill('Larkspur')
      await page.keyboard.press('Enter')
      await page.getByText('This is the only time that the secret key is shown.').waitFor()
      const key = (await page.locator('.key-line code').first().textContent()) ?? ''
      assert.match(key, /^sk_/)
      assert.deepEqual(await findAccessFaults(page), [])
      const kept = (await page.evaluate(KEPT)) as string
      assert.ok(!kept.includes(key))
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByLabel('Domain that your mail comes from').fill('larkspur.test')
      await page.keyboard.press('Enter')
      await page.getByText('Waiting for the records').waitFor()
      await publishRecords(page, http, dns)
      await page.getByText('Verified', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'To the overview' }).click()
      await page.getByRole('heading', { level: 1, name: 'Your first mail' }).waitFor()
      await page.getByLabel('To', { exact: true }).fill('ada@example.org')
      await page.getByRole('button', { name: 'Send it from here' }).click()
      await page
        .getByText(/^Taken by the relay for /)
        .first()
        .waitFor()
      assert.equal(smarthost.messages.at(-1)?.to[0], 'ada@example.org')
      assert.deepEqual(faults, [])
    })
    await assert.rejects(readFile(path.join(folder, 'setup-link')), { code: 'ENOENT' })
    const body = JSON.stringify({
      ...{ token: token.slice(1), email: 'eve@example.org', password: PASSWORD },
    })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${http}/setup`, { method: 'POST', headers, body })
    assert.equal(answer.status, 404)
  })
})

/** A server in this process that has never run before. */
async function startFresh(
  t: TestContext,
  settings: Record<string, string>,
): Promise<{ app: App; folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-first-'))
  const env = {
    PILLARBOX_DATA_DIR: folder,
    PILLARBOX_SECRET: 'one secret for all tests of a process',
    PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
    PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
    ...settings,
  }
  const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
  await prepareDataDir(config)
  const app = await startApp(config, { log: silentLog(), createThread: createInlineThreads() })
  t.after(async () => {
    await app.stop()
    await rm(folder, { recursive: true })
  })
  return { app, folder }
}

/** Publishes what the server wants to find for the domain of the only project. */
async function publishRecords(page: Page, http: string, dns: FakeDns): Promise<void> {
  const [project] = await (await page.request.get(`${http}/users/@me/projects`)).json()
  const headers = { 'X-Project-Id': project.id }
  const [domain] = await (
    await page.request.get(`${http}/domains/project/${project.id}`, { headers })
  ).json()
  for (const { type, name, value } of domain.records) {
    if (type === 'TXT') dns.set(name, { TXT: [value] })
  }
}
