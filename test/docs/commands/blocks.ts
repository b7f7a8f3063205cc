/** The command blocks of all pages: which are run, and in which order. */
import path from 'node:path'
import { type DocsPage, readPages } from '../pages.ts'

export const README = 'README.md'
export const pages = readPages()

/** Blocks that are not run, by a part of their text, and the reason. */
export const NOT_RUN: readonly [part: string, reason: string][] = [
  ['npm ci && npm start', 'installs packages and serves until it is stopped'],
  ['1587 npm start', 'serves until it is stopped'],
  ['npm ci && npm run build', 'installs packages, builds, and adds a user to the system'],
  ['core.hooksPath', 'installs packages, changes the settings of git and runs all tests'],
  ['systemctl', 'starts a service of the system'],
  ['sysctl -w', 'changes the settings of the machine'],
  ['swaks', 'needs a server with a certificate at mail.example.com'],
  ['sqlite3', 'needs the sqlite3 program and the folders of an installation'],
]

/** Waits and lists of the guide for which nobody wants to wait here: a person has clicked long before. */
export const SHORTER: readonly [part: string, shorter: string][] = [
  ['"timeout":20}', '"timeout":8}'],
  ['seq 1 10000', 'seq 1 3000'],
]

/** These pages wait most of the time. They run beside the others; each of the two has variables of its own. */
export const WAITING = ['analytics.md', 'doctor.md', 'workflows.md']

/** Before both: the ids of the README, and a page that switches the tracking off for a moment. */
export const FIRST = [README, 'feedback.md']

export const shellBlocks = (page: DocsPage) =>
  page.blocks.filter(({ language }) => language === 'sh')

export const reasonNotToRun = (text: string) => NOT_RUN.find(([part]) => text.includes(part))?.[1]

/** Each page belongs to one range. */
export function pagesBetween(from: string, to: string): DocsPage[] {
  const isBetween = ({ file }: DocsPage) => {
    const [letter = ''] = path.basename(file)
    return from <= letter && letter <= to
  }
  return pages.filter((page) => page.file === README || isBetween(page))
}

/** The pages that run before the others, those that wait, and the rest. */
export function arrange(chosen: readonly DocsPage[]) {
  const isIn = (names: readonly string[], { file }: DocsPage) => names.includes(path.basename(file))
  return {
    first: chosen.filter((page) => isIn(FIRST, page)),
    waiting: chosen.filter((page) => isIn(WAITING, page)),
    others: chosen.filter((page) => !isIn([...FIRST, ...WAITING], page)),
  }
}
