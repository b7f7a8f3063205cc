/** The pages of the guide in the files of the program: their names, titles and addresses. */
import { listAssets, readAsset } from '../../config/assets.ts'
import { tasksOf } from './guide-tasks.ts'

export const GUIDE_PATH = '/docs/guide'

const FOLDER = 'guide/pages'
const README = 'guide/README.md'

export type GuideLink = { href: string; title: string }
export type GuideList = readonly { title: string; pages: readonly GuideLink[] }[]

/** The name of each file in `src/docs`, without `.md`. */
export function listPageNames(): string[] {
  return listAssets(FOLDER).map((asset) => asset.slice(FOLDER.length + 1, -'.md'.length))
}

/** Returns the Markdown of a page; null is the README. */
export function readPage(name: string | null): string {
  return readAsset(name === null ? README : `${FOLDER}/${name}.md`).toString('utf8')
}

/** Returns the address of a page, or of the overview. */
export function addressOf(name: string | null): string {
  return name === null ? GUIDE_PATH : `${GUIDE_PATH}/${name}`
}

/** The list of all pages by task, with the overview and the API first. */
export function listGuide(): GuideList {
  const start = [
    { href: GUIDE_PATH, title: 'Overview' },
    { href: '/docs', title: 'API' },
  ]
  const tasks = tasksOf(listPageNames()).map(({ title, names }) => ({
    title,
    pages: names.map((name) => ({ href: addressOf(name), title: titleOf(readPage(name)) })),
  }))
  return [{ title: 'Start', pages: start }, ...tasks]
}

function titleOf(markdown: string): string {
  const [first = ''] = markdown.split('\n', 1)
  return first.replace(/^# /, '')
}
