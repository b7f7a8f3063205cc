/**
 * The screens of the dashboard as a browser opens them by their addresses, with nothing in its cache. The build joins
 * files until none loads more than it may (`chunks.ts`), counts the bytes of each (`sizes.ts`), and the server names
 * the files of a screen in its page, so that they are loaded at once.
 */
import type { Metafile } from 'esbuild'

export type Outputs = Metafile['outputs']

type Screen = {
  name: string
  /** The address below `/app`, where `:name` stands for any value; undefined where another screen has it. */
  path?: string
  /** The lazy parts that it shows at once, below `src/dashboard`. */
  parts: readonly string[]
  /** Where another limit than `SCREEN_FILES` holds. */
  files?: number
  /** Where another limit than `SCREEN_KILOBYTES` holds. */
  kilobytes?: number
}

/** The page, the script of the colours, the style sheet and the frame. */
export const FIRST_FILES = 4
/** Files that a screen loads, the first ones and the page among them. */
export const SCREEN_FILES = 6
/** After gzip, the first files among them. */
export const SCREEN_KILOBYTES = 60
/** Files that a part on demand loads, such as a dialog. */
export const PART_FILES = 3

/**
 * Most screens have a form, or open one, and several read their address: such modules are in the frame. They are small,
 * and in a file of their own they would be one more.
 */
export const IN_FRAME = [
  ...['ui/form.tsx', 'ui/field.tsx', 'text/en/form.ts'],
  ...['ui/ask.tsx', 'ui/suppress.tsx', 'text/en/suppress.ts'],
  ...['logic/url-state.ts', 'logic/visible.ts'],
]

const LOGIN = 'screens/login/login.tsx'
const OVERVIEW = 'screens/overview/overview.tsx'
const CHART = 'ui/chart.tsx'
const EMAIL = 'screens/email/email.tsx'
const EMAILS = 'screens/emails/emails.tsx'
const COMBOBOX = 'ui/combobox.tsx'

/** The first path that fits an address has it. */
export const SCREENS: readonly Screen[] = [
  { name: 'sign-in', path: '/login', parts: [LOGIN] },
  { name: 'sign-in and overview', parts: [LOGIN, OVERVIEW], files: 7 },
  { name: 'sign-up', path: '/signup', parts: ['screens/signup/sign-up.tsx'] },
  { name: 'forgotten password', path: '/forgot', parts: ['screens/forgot/forgot.tsx'] },
  { name: 'unverified address', parts: ['screens/signup/unverified.tsx'] },
  { name: 'set-up', path: '/setup', parts: ['screens/setup/set-up.tsx'], files: 7 },
  {
    name: 'account',
    path: '/me',
    parts: ['screens/me/account.tsx', COMBOBOX],
    files: 7,
    kilobytes: 94,
  },
  { name: 'new project', path: '/projects/new', parts: ['screens/projects/new-project.tsx'] },
  { name: 'overview', path: '/:project', parts: [OVERVIEW, CHART], kilobytes: 80 },
  {
    name: 'first steps',
    parts: [OVERVIEW, 'screens/onboarding/onboarding.tsx'],
    files: 8,
    kilobytes: 72,
  },
  { name: 'emails', path: '/:project/emails', parts: [EMAILS], files: 7, kilobytes: 72 },
  {
    name: 'no email yet',
    parts: [EMAILS, 'screens/emails/no-mail.tsx'],
    files: 8,
    kilobytes: 72,
  },
  { name: 'email', path: '/:project/emails/:id', parts: [EMAIL], kilobytes: 66 },
  { name: 'activity', path: '/:project/activity', parts: ['screens/activity/activity.tsx'] },
]

/** The files that the file imports before it runs, and the file itself. */
export function loadedBy(outputs: Outputs, name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const { path: other, kind } of outputs[name]?.imports ?? []) {
    if (kind === 'import-statement') loadedBy(outputs, other, found)
  }
  return found
}

/** The files of the parts of a screen, without those of the frame. */
export function filesOf(
  outputs: Outputs,
  parts: readonly string[],
  first: readonly string[],
): string[] {
  const files = parts.flatMap((part) => [...loadedBy(outputs, fileOf(outputs, part))])
  return [...new Set(files)].filter((name) => !first.includes(name))
}

/** The file of a lazy part. @throws Error without one */
function fileOf(outputs: Outputs, part: string): string {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => partOf(entryPoint) === part)
  if (found === undefined) throw new Error(`the dashboard has no lazy part ${part}`)
  return found[0]
}

/** `lazy:src/dashboard/ui/chart.tsx` -> `ui/chart.tsx`; undefined for what is no lazy part. */
export function partOf(entryPoint: string | undefined): string | undefined {
  return /^lazy:src\/dashboard\/(.*)$/.exec(entryPoint ?? '')?.[1]
}
