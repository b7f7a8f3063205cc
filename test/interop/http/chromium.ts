/** The system's Chromium, driven by playwright-core. */
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { after, before } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { PATIENCE_MS } from '../../patience.ts'

/** Without the windows of the full program, which take more time than the pages. */
const WINDOWLESS = 'chromium-headless-shell'

const names = [
  WINDOWLESS,
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]

/** Of all modules of a process: tests of a bundle have another copy of this one than the bundle's runner. */
const SHARED = Symbol.for('pillarbox: the Chromium of this process')

type Chromium = {
  /** Why there is no browser; `false` when there is one. */
  skip: string | false
  /** Hands over a page of a browser that knows nothing, which forgets all in the end. */
  visit<T>(options: BrowserContextOptions, look: (page: Page) => Promise<T>): Promise<T>
}

/**
 * A browser for the tests of a file, which the files of a process may share: each visit has a context of its own.
 * `options`: of its command line; a file with some has its own browser.
 */
export function useChromium(options: readonly string[] = []): Chromium {
  const program = findChromium()
  const shared: Browser | undefined =
    options.length > 0 ? undefined : Reflect.get(globalThis, SHARED)
  let browser = shared
  before(async () => {
    if (program !== undefined) browser ??= await launchChromium(program, options)
  })
  after(() => (shared === undefined ? browser?.close() : undefined))
  return {
    skip: program === undefined && 'chromium is not installed',
    async visit(contextOptions, look) {
      if (browser === undefined) throw new Error('Chromium does not run')
      const context = await browser.newContext(contextOptions)
      context.setDefaultTimeout(PATIENCE_MS)
      try {
        return await look(await context.newPage())
      } finally {
        await context.close()
      }
    },
  }
}

/** Starts a browser, if there is one, for all test files of this process. Call it before the first suite. */
export async function shareChromium(): Promise<void> {
  const program = findChromium()
  if (program === undefined) return
  const browser = await launchChromium(program)
  Reflect.set(globalThis, SHARED, browser)
  after(() => browser.close())
}

/** The browser of this machine; undefined without one. `hasWindows`: one that can show them. */
export function findChromium({ hasWindows = false } = {}): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const wanted = names.filter((name) => !hasWindows || name !== WINDOWLESS)
  return folders.flatMap((folder) => wanted.map((name) => path.join(folder, name))).find(isProgram)
}

/** A browser without a window. `options`: of its command line. */
export function launchChromium(
  executablePath: string,
  options: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch(launchOptions(executablePath, options))
}

/** The sandbox of Chromium cannot be had by root. */
export function launchOptions(executablePath: string, options: readonly string[] = []) {
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...options]
  return { executablePath, timeout: PATIENCE_MS, args }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
