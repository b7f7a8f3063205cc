/** The pages of the guide in the files of the program: their names, titles and addresses, and their order by task. */
import { listAssets, readAsset } from '../../config/assets.ts'

const GUIDE_PATH = '/docs/guide'

const FOLDER = 'guide/pages'
const README = 'guide/README.md'

type GuideLink = { href: string; title: string }

export type GuideList = readonly { title: string; pages: readonly GuideLink[] }[]

/** The pages of the guide by what people want to do. Names are those of the files in `src/docs`. */
type GuideTask = { title: string; names: readonly string[] }

export const GUIDE_TASKS: readonly GuideTask[] = [
  { title: 'Work in the browser', names: ['dashboard'] },
  {
    title: 'Send',
    names: ['templates', 'submission', 'feedback', 'reasons', 'requests', 'compatibility'],
  },
  { title: 'People', names: ['contacts', 'conditions', 'events-and-segments', 'privacy'] },
  {
    title: 'Campaigns and workflows',
    names: ['campaigns', 'workflows', 'sign-up', 'webhooks', 'analytics'],
  },
  {
    title: 'Set up a server',
    names: [
      'production',
      'dns',
      'certificates',
      'configuration',
      'security',
      'accounts',
      'billing',
    ],
  },
  {
    title: 'Run a server',
    names: ['operations', 'monitoring', 'doctor', 'troubleshooting', 'backup', 'upgrade'],
  },
  {
    title: 'Change the program',
    names: ['contributing', 'internals', 'decisions', 'performance', 'translating', 'changelog'],
  },
]

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

/** The tasks with the pages that exist. Pages without a task come last, so that no page is lost. */
function tasksOf(names: readonly string[]): GuideTask[] {
  const placed = new Set(GUIDE_TASKS.flatMap((task) => task.names))
  const others = { title: 'More', names: names.filter((name) => !placed.has(name)) }
  return [...GUIDE_TASKS, others]
    .map((task) => ({ ...task, names: task.names.filter((name) => names.includes(name)) }))
    .filter((task) => task.names.length > 0)
}
