/**
 * The dashboard in Chromium beside the real server, whose DNS and receivers are fakes. Each visit ends with
 * an error if the page wrote to the console, broke its policy, or asked another origin.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before } from 'node:test'
import type { Page } from 'playwright-core'
import { buildDashboard } from '../../../scripts/dashboard/build.ts'
import { type Program, startProgram } from '../../e2e/program.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useChromium } from '../http/chromium.ts'

type Role = 'MEMBER' | 'ADMIN' | 'OWNER'

export type Person = { id: string; address: string; cookie: string }

type VisitOptions = {
  /** Who looks; nobody without one. */
  person?: Person
  /** Below the origin; `PROJECT` stands for the project of the tests. */
  path?: string
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  language?: string
  /** Parts of lines of the console that belong to the test, such as `status of 500`. */
  expected?: RegExp
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

export function useDashboard(settings: Record<string, string> = {}) {
  const chromium = useChromium()
  let program: Program | undefined
  before(async () => {
    if (chromium.skip !== false) return
    await buildDashboard()
    program = await startProgram(settings)
  })
  after(() => program?.close())
  const running = () => {
    if (program === undefined) throw new Error('the program does not run')
    return program
  }

  return {
    skip: chromium.skip,
    program: running,

    async makePerson(role: Role | null = 'OWNER', isOperator = false): Promise<Person> {
      const { core, project } = running()
      const user = await addUser(core, { isOperator })
      if (role !== null) await addMember(core, { projectId: project.id, userId: user.id, role })
      return { ...user, cookie: await logIn(core, user.id) }
    },

    /** Opens another page in a visit, as somebody who types its address does. `path`: as that of a visit. */
    async open(page: Page, path: string): Promise<void> {
      const { url, project } = running()
      await page.goto(new URL(path.replace('PROJECT', project.id), url()).href)
    },

    /** Opens the page and hands it over. */
    visit(
      { person, path = '/app/PROJECT', expected, ...options }: VisitOptions,
      look: (page: Page) => Promise<void>,
    ) {
      const { url, project } = running()
      const { width = 1440, height = 900, scheme = 'light', language = 'en' } = options
      const context = {
        viewport: { width, height },
        colorScheme: scheme,
        locale: language,
      } as const
      return chromium.visit(context, async (page) => {
        const complaints = listenForFaults(page, url())
        if (person !== undefined) {
          const [name = '', value = ''] = person.cookie.split('=')
          await page.context().addCookies([{ name, value, url: url() }])
        }
        await page.goto(new URL(path.replace('PROJECT', project.id), url()).href)
        await look(page)
        assert.deepEqual(
          complaints.filter((line) => expected?.test(line) !== true),
          [],
        )
      })
    },
  }
}

/** Collects what a page must not do. */
export function listenForFaults(page: Page, origin: string): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('request', (request) => {
    const { protocol } = new URL(request.url())
    const isLocal = ['data:', 'blob:', 'about:'].includes(protocol)
    if (!isLocal && !request.url().startsWith(origin)) complaints.push(`asked ${request.url()}`)
  })
  return complaints
}

/** Waits until all parts of the page are there: none says that it loads, and the screen has its heading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  await page.locator('h1').waitFor()
}

/** What axe finds on the page, one line each. */
export async function findAccessFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async (tags) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page.
    const { violations } = await (globalThis as any).axe.run({ runOnly: tags })
    return violations.flatMap(
      ({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        nodes.map(
          ({ html, failureSummary }) =>
            `${id}: ${html.slice(0, 160)} ${failureSummary.replaceAll('\n', ' ')}`,
        ),
    )
  }, AXE_TAGS)
}

/** The elements that make the page wider than its window; none if it is not. */
export function findWideElements(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const root = document.documentElement
    if (root.scrollWidth <= innerWidth) return []
    const isWide = (one) => one.getBoundingClientRect().right > innerWidth + 1
    const innermost = (one) => ![...one.children].some(isWide)
    const found = [...document.body.querySelectorAll('*')].filter((one) => isWide(one) && innermost(one))
    return ['the page, ' + root.scrollWidth, ...found.map((one) => one.outerHTML.slice(0, 200))]
  })()`)
}
