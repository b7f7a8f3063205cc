/** Who is signed in, in which projects, at which server: loaded once, and shared by all screens. */
import { computed, signal } from '@preact/signals'
import { languageOfAccount } from '../logic/account-language.ts'
import { projectOf } from '../logic/base.ts'
import { browserZone } from '../logic/format.ts'
import { clearTab, keep, readKept } from '../logic/storage.ts'
import {
  LANGUAGES,
  type LanguageCode,
  preferredLanguage,
  rememberLanguage,
  setLanguage,
} from '../text/text.ts'
import { type Answer, ApiFailure, base, call, configureClient } from './client.ts'
import { queryClient } from './queries.ts'
import { endSetUp } from './set-up-progress.ts'

export type User = Answer<'GET /users/@me'>
export type Project = Answer<'GET /users/@me/projects'>[number]
export type Config = Answer<'GET /config'>

const LAST_PROJECT = 'pillarbox.project'
/** The id of the user in the storage, while a session is believed to exist: scripts do not see its cookie. */
const SIGNED_IN = 'pillarbox.signed-in'

export const config = signal<Config | undefined>(undefined)
export const user = signal<User | undefined>(undefined)
export const projects = signal<readonly Project[]>([])
/** The project of the screen, once the user is no member any more: the screen stays until it is left. */
export const lostProject = signal<Project | undefined>(undefined)
/** The failure that keeps the dashboard from starting. */
export const startFailure = signal<ApiFailure | undefined>(undefined)
/** The session opens nothing but the account, until the user has opened the link in a mail. */
export const isUnverified = signal(false)
/** The session ended while a page was open: the sign-in is shown over the page. */
export const isSignedOut = signal(false)
export const isOffline = signal(false)
export const isOutdated = signal(false)
/** The id of a project that is being reset. */
export const resetting = signal<string | undefined>(undefined)
/** The path of the address, with the base. */
export const path = signal(location.pathname)

export const project = computed(() => {
  const id = projectOf(path.value.slice(base.length))
  return projectWith(id)
})

/** Nobody may sign in yet: the first user is made by the link that the server shows at its start. */
export const needsSetUp = computed(() => config.value?.setup.needed === true)

export const isOperator = computed(() => user.value?.isOperator === true)

let version: string | undefined
let waiting: (() => void)[] = []

configureClient({
  untilSignedIn: () => {
    // Before the first answer there is no page to keep: the door is shown instead.
    if (user.value === undefined)
      return Promise.reject(new ApiFailure('SIGNED_OUT', 'No session.', { status: 401 }))
    isSignedOut.value = true
    return new Promise((resolve) => waiting.push(resolve))
  },
  onVersion: (running) => {
    version ??= running
    if (running !== version) isOutdated.value = true
  },
  onRefused: () => void lookAtProjects(),
  onResetting: (id) => {
    resetting.value = id
  },
  onReachable: (isReachable) => {
    isOffline.value = !isReachable
  },
})

/** While the server cannot be reached, a page without calls of its own looks for it too. */
const LOOK_MS = 15_000
const lookAgain = () => {
  if (isOffline.value && !document.hidden) void reloadConfig().catch(() => undefined)
}
setInterval(lookAgain, LOOK_MS)
addEventListener('online', lookAgain)

/** Loads what all screens need. Without a session, `user` stays undefined. */
export async function start(): Promise<void> {
  startFailure.value = undefined
  // The page names these calls if the browser sent the cookie of a session. Their answers are used here, or else the
  // first call after a log-in would get an old one.
  const isExpected = document.querySelector('link[rel=preload][href$="/users/@me"]') !== null
  // The first format of a page takes as long as drawing the page, so it is made while the answers are on their way.
  if (isExpected) setTimeout(browserZone)
  try {
    const [settings] = await Promise.all([
      call('GET /config'),
      // The page has asked for these answers already (`SESSION_CALLS` of the route).
      isExpected ? loadUser() : undefined,
      setLanguage(preferredLanguage()),
    ])
    // The server tells its version to sessions only, for example after a log-in with a provider.
    if (!isExpected && settings.version !== undefined) await loadUser()
    config.value = settings
  } catch (error) {
    startFailure.value = error as ApiFailure
  }
}

async function loadUser(): Promise<void> {
  try {
    const [self, own] = await Promise.all([call('GET /users/@me'), loadProjects()])
    isUnverified.value = own === undefined
    takeProjects(own ?? [])
    user.value = self
    keep(SIGNED_IN, self.id)
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error
    keep(SIGNED_IN, undefined)
  }
}

/** Undefined until the address of the user is verified. */
async function loadProjects(): Promise<readonly Project[] | undefined> {
  try {
    return await call('GET /users/@me/projects')
  } catch (error) {
    const isBarred = error instanceof ApiFailure && error.code === 'EMAIL_VERIFICATION_REQUIRED'
    if (isBarred) return undefined
    throw error
  }
}

/**
 * After a login. Calls that met the end of the session are repeated, and the language of the account is taken.
 * @throws ApiFailure if the user cannot be loaded
 */
export async function signedIn(): Promise<void> {
  const before = user.value?.id
  const self = await call('GET /users/@me', { isProbe: true })
  // Another person must not see what the page of the first one holds, and none of its calls is repeated.
  if (before !== undefined && self.id !== before) return location.assign(`${base}/app`)
  // A session is told more about the server.
  await Promise.all([reloadConfig(), takeLanguage(self)])
  await loadUser()
  isSignedOut.value = false
  void queryClient.invalidateQueries()
  const resumed = waiting
  waiting = []
  for (const resume of resumed) resume()
}

/**
 * Somebody has gone back to a page that the browser kept. What was typed stays, but nobody may see what the page holds
 * of another person, or of one who has signed out.
 */
export function wakeUp(): void {
  if (readKept(SIGNED_IN) !== (user.value?.id ?? null)) {
    location.reload()
    return
  }
  void queryClient.invalidateQueries()
  void lookAtProjects()
}

export async function reloadConfig(): Promise<void> {
  config.value = await call('GET /config')
}

async function takeLanguage(self: User): Promise<void> {
  const code = languageOfAccount(self, Object.keys(LANGUAGES)) as LanguageCode | undefined
  if (code === undefined) return
  rememberLanguage(code)
  await setLanguage(code)
}

/**
 * Leaves nothing of the person in this browser.
 * @throws ApiFailure if the session has not ended
 */
export async function signOut(): Promise<void> {
  try {
    await call('POST /auth/logout')
  } catch (error) {
    // A session that ended by itself meanwhile is what was wanted.
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error
  }
  endSetUp()
  queryClient.clear()
  clearTab()
  keep(SIGNED_IN, undefined)
  location.assign(`${base}/app/login`)
}

export async function reloadProjects(): Promise<void> {
  takeProjects(await call('GET /users/@me/projects'))
  loadedAt = Date.now()
}

/** What was typed in a project stays when the user is removed from it. */
function takeProjects(own: readonly Project[]): void {
  const shown = project.peek()
  lostProject.value = own.some(({ id }) => id === shown?.id) ? undefined : shown
  projects.value = own
}

/** Another screen is no longer one of a project that was lost. */
path.subscribe(() => {
  lostProject.value = undefined
})

/** Names, roles and states of projects are as old as this at most when somebody comes back, or is refused. */
const PROJECTS_MS = 60_000
let loadedAt = Date.now()
let isLooking = false
/** When a refusal was no news. */
let vainAt = Number.NEGATIVE_INFINITY

/** A role or the state of a project may have changed. A screen that is refused at each poll asks once a minute. */
async function lookAtProjects(): Promise<void> {
  if (isLooking || Date.now() - vainAt < PROJECTS_MS) return
  isLooking = true
  const before = JSON.stringify(projects.value)
  await reloadProjects().catch(() => undefined)
  if (JSON.stringify(projects.value) === before) vainAt = Date.now()
  isLooking = false
}

document.addEventListener('visibilitychange', () => {
  const isOld = Date.now() - loadedAt > PROJECTS_MS
  if (!document.hidden && isOld && projects.value.length > 0)
    void reloadProjects().catch(() => undefined)
})

/** The project that was shown last, or else the newest. */
export function lastProject(): Project | undefined {
  const last = readKept(LAST_PROJECT)
  return projects.value.find(({ id }) => id === last) ?? projects.value[0]
}

export function rememberProject(id: string): void {
  keep(LAST_PROJECT, id)
}

/** The project with this id, as it is now; undefined if it is none of the user's. */
export function projectWith(id: string | undefined): Project | undefined {
  const lost = lostProject.value
  return projects.value.find((one) => one.id === id) ?? (lost?.id === id ? lost : undefined)
}

/** Whether the user's role in the project is at least this one. The server decides; this only explains. */
export function hasRole(needed: Project['role'], { role }: Pick<Project, 'role'>): boolean {
  const order = ['MEMBER', 'ADMIN', 'OWNER']
  return order.indexOf(role) >= order.indexOf(needed)
}
