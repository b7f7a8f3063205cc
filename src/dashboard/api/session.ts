/** Who is signed in, in which projects, at which server: loaded once, and shared by all screens. */
import { computed, signal } from '@preact/signals'
import { projectOf } from '../logic/base.ts'
import { preferredLanguage, setLanguage } from '../text/text.ts'
import { type Answer, ApiFailure, base, call, configureClient } from './client.ts'
import { queryClient } from './queries.ts'

export type User = Answer<'GET /users/@me'>
export type Project = Answer<'GET /users/@me/projects'>[number]
export type Config = Answer<'GET /config'>

const LAST_PROJECT = 'pillarbox.project'

export const config = signal<Config | undefined>(undefined)
export const user = signal<User | undefined>(undefined)
export const projects = signal<readonly Project[]>([])
/** The failure that keeps the dashboard from starting. */
export const startFailure = signal<ApiFailure | undefined>(undefined)
/** The session ended while a page was open: the sign-in is shown over the page. */
export const isSignedOut = signal(false)
export const isOffline = signal(false)
export const isOutdated = signal(false)
/** The project that is shown is being reset. */
export const isResetting = signal(false)
/** The path of the address, with the base. */
export const path = signal(location.pathname)

export const project = computed(() => {
  const id = projectOf(path.value.slice(base.length))
  return projects.value.find((one) => one.id === id)
})

export const isOperator = computed(() => user.value?.isOperator === true)

let version: string | undefined
let waiting: (() => void)[] = []

configureClient({
  project: () => projectOf(location.pathname.slice(base.length)),
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
  onResetting: () => {
    isResetting.value = true
  },
  onReachable: (isReachable) => {
    isOffline.value = !isReachable
  },
})

/** Loads what all screens need. Without a session, `user` stays undefined. */
export async function start(): Promise<void> {
  startFailure.value = undefined
  try {
    const [settings] = await Promise.all([
      call('GET /config'),
      loadUser(),
      setLanguage(preferredLanguage()),
    ])
    config.value = settings
  } catch (error) {
    startFailure.value = error as ApiFailure
  }
}

async function loadUser(): Promise<void> {
  try {
    const [self, own] = await Promise.all([call('GET /users/@me'), call('GET /users/@me/projects')])
    user.value = self
    projects.value = own
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error
  }
}

/** After a login. Calls that met the end of the session are repeated. */
export async function signedIn(): Promise<void> {
  const before = user.value?.id
  await loadUser()
  // Another person must not see what the page of the first one holds.
  if (before !== undefined && user.value?.id !== before) location.assign(`${base}/app`)
  isSignedOut.value = false
  void queryClient.invalidateQueries()
  const resumed = waiting
  waiting = []
  for (const resume of resumed) resume()
}

export async function signOut(): Promise<void> {
  await call('POST /auth/logout')
  sessionStorage.clear()
  location.assign(`${base}/app/login`)
}

export async function reloadProjects(): Promise<void> {
  projects.value = await call('GET /users/@me/projects')
}

/** The project that was shown last, or else the newest. */
export function lastProject(): Project | undefined {
  const last = localStorage.getItem(LAST_PROJECT)
  return projects.value.find(({ id }) => id === last) ?? projects.value[0]
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id)
}

/** Whether the user's role in the project is at least this one. The server decides; this only explains. */
export function hasRole(needed: 'MEMBER' | 'ADMIN' | 'OWNER'): boolean {
  const order = ['MEMBER', 'ADMIN', 'OWNER']
  return order.indexOf(project.value?.role ?? '') >= order.indexOf(needed)
}
