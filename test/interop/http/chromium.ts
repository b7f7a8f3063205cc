/** The system's Chromium, driven by playwright-core. */
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find(isProgram)
}

/** A browser without a window; its sandbox cannot be had by root. `options`: of its command line. */
export function launchChromium(
  executablePath: string,
  options: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...options],
  })
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
