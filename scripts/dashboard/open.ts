/**
 * A server for looking at the dashboard: a project with one email in each state, on fake DNS and fake receivers, and
 * two accounts. Each has its window of Chromium, where there are windows, and a password for other browsers.
 */
import { once } from 'node:events'
import { type Browser, chromium } from 'playwright-core'
import { createUser } from '../../src/features/tenancy/accounts/users/users.ts'
import { type Program, startProgram } from '../../test/e2e/program.ts'
import { makeMailInAllStates, STATE_SETTINGS } from '../../test/interop/dashboard/mail-states.ts'
import { findChromium, launchOptions } from '../../test/interop/http/chromium.ts'
import { addMember, logIn } from '../../test/session.ts'

const PASSWORD = 'correct horse battery'
const ACCOUNTS = [
  { address: 'ada@people.test', role: 'OWNER', isOperator: true },
  { address: 'ben@people.test', role: 'MEMBER', isOperator: false },
] as const

type Account = (typeof ACCOUNTS)[number]

/** Resolves once it is interrupted, or all windows are closed. What the server had on disk is gone then. */
export async function openDashboard(): Promise<void> {
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const program = await startProgram(STATE_SETTINGS)
  try {
    await makeMailInAllStates(program)
    const cookies = await Promise.all(ACCOUNTS.map((account) => addAccount(program, account)))
    console.log(`${program.url()}/app/login`)
    for (const { address, role, isOperator } of ACCOUNTS) {
      console.log(`  ${address}  ${PASSWORD}  ${role}${isOperator ? ', operator' : ''}`)
    }
    const browser = await launchWithWindows()
    const closed = browser === undefined ? [] : [openWindows(browser, program, cookies)]
    await Promise.race([interrupted, ...closed])
    await browser?.close()
  } finally {
    await program.close()
  }
}

/** Returns the cookie of a session. */
async function addAccount(
  { core, project }: Program,
  { address, role, isOperator }: Account,
): Promise<string> {
  const { id } = await createUser(core, { address, password: PASSWORD, isOperator })
  await addMember(core, { projectId: project.id, userId: id, role })
  return logIn(core, id)
}

/** None without a display, as on a machine far away. */
async function launchWithWindows(): Promise<Browser | undefined> {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  const hasDisplay = process.platform !== 'linux' || (DISPLAY ?? WAYLAND_DISPLAY) !== undefined
  const executablePath = findChromium({ hasWindows: true })
  if (executablePath === undefined || !hasDisplay) return undefined
  // The server ends first: an interrupt is for this process.
  const signals = { handleSIGINT: false, handleSIGTERM: false }
  return chromium.launch({ ...launchOptions(executablePath), ...signals, headless: false })
}

/** One for each account. Resolves once all are closed. */
async function openWindows(
  browser: Browser,
  { url, project }: Program,
  cookies: readonly string[],
): Promise<void> {
  const opened = cookies.map(async (cookie) => {
    const context = await browser.newContext({ viewport: null })
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: url() }])
    const page = await context.newPage()
    const closed = page.waitForEvent('close', { timeout: 0 })
    await page.goto(`${url()}/app/${project.id}`)
    await closed
  })
  await Promise.all(opened)
}
