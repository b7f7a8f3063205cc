/** Which screen an address shows. */

import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { exec, LocationProvider, Route, Router, useLocation, useRoute } from 'preact-iso/router'
import { base } from './api/client.ts'
import {
  config,
  isOperator,
  isSignedOut,
  isUnverified,
  lastProject,
  path,
  project,
  rememberProject,
  start,
  startFailure,
  user,
} from './api/session.ts'
import { isSetUpOpen } from './api/set-up-progress.ts'
import { t } from './text/text.ts'
import { loadOnApproach } from './ui/approach.ts'
import { ServerBanners } from './ui/banners.tsx'
import { type LazyPart, lazy } from './ui/lazy.tsx'
import { Leave } from './ui/leave.tsx'
import { outer } from './ui/link.ts'
import { Page } from './ui/page.tsx'
import { askForFiles } from './ui/screen-files.ts'
import { Shell } from './ui/shell.tsx'
import { Failed, Loading, WaysOut } from './ui/state.tsx'
import { Suspense } from './ui/suspense.tsx'

type Parts = Readonly<Record<string, LazyPart>>

const Unverified = lazy(() => import('./screens/signup/unverified.tsx'))
const SignInDialog = lazy(() => import('./screens/login/sign-in-dialog.tsx'))

/** Screens without a session, by their addresses below `/app`. */
const DOORS = parts({
  '/login': () => import('./screens/login/login.tsx'),
  '/signup': () => import('./screens/signup/sign-up.tsx'),
  '/forgot': () => import('./screens/forgot/forgot.tsx'),
  '/setup': () => import('./screens/setup/set-up.tsx'),
})

const OWN_SCREENS = parts({
  '/me': () => import('./screens/me/account.tsx'),
  '/projects/new': () => import('./screens/projects/new-project.tsx'),
})

const PROJECT_SCREENS = parts({
  '/:project': () => import('./screens/overview/overview.tsx'),
  '/:project/emails': () => import('./screens/emails/emails.tsx'),
  '/:project/emails/:id': () => import('./screens/email/email.tsx'),
  '/:project/activity': () => import('./screens/activity/activity.tsx'),
})

const SCREENS = Object.entries({ ...DOORS, ...OWN_SCREENS, ...PROJECT_SCREENS })

/** The part of the screen at a path of this origin; undefined for a path without one. */
export function screenAt(path: string): LazyPart | undefined {
  return SCREENS.find(([address]) => exec(path, outer(address)) !== undefined)?.[1]
}

loadOnApproach(screenAt)

export function App() {
  return (
    <LocationProvider scope={`${base}/app`}>
      <Screens />
    </LocationProvider>
  )
}

function Screens() {
  const location = useLocation()
  path.value = location.path
  const screen = location.path.slice(outer('').length)
  const Door = DOORS[screen]
  if (startFailure.value !== undefined) {
    return (
      <main class="door">
        <Failed error={startFailure.value} onRetry={() => void start()} />
      </main>
    )
  }
  if (config.value === undefined)
    return (
      <main class="door">
        <Loading rows={3} />
      </main>
    )
  if (Door !== undefined)
    return (
      <Outside>
        <Door />
        {isSignedOut.value && <SignInDialog />}
      </Outside>
    )
  if (user.value === undefined) return <Leave to={signInAddress(location.url)} />
  if (isUnverified.value)
    return (
      <Outside>
        <Unverified />
      </Outside>
    )
  return (
    <Shell>
      <Suspense>
        <Router onRouteChange={() => window.scrollTo(0, 0)}>
          <Route path={outer('/')} component={Home} />
          {Object.entries(OWN_SCREENS).map(([address, Screen]) => (
            <Route key={address} path={outer(address)} component={Screen} />
          ))}
          {Object.entries(PROJECT_SCREENS).map(([address, Screen]) => (
            <Route key={address} path={outer(address)} component={inProject(Screen)} />
          ))}
          <Route default component={NotFoundScreen} />
        </Router>
      </Suspense>
    </Shell>
  )
}

/** The parts of screens by their addresses. All files of a screen are asked for at once. */
function parts(loads: Record<string, () => Promise<{ default: ComponentType }>>): Parts {
  return Object.fromEntries(
    Object.entries(loads).map(([address, load]) => [
      address,
      lazy(() => {
        askForFiles(address)
        return load()
      }),
    ]),
  )
}

/** The frame of what stands before the dashboard. */
function Outside({ children }: { children: ComponentChildren }) {
  return (
    <>
      <header aria-live="polite">
        <ServerBanners />
      </header>
      <Suspense>{children}</Suspense>
    </>
  )
}

const wrapped = new Map<ComponentType, ComponentType>()

/** The screen, if the project of the address is one of the user's. */
function inProject(Screen: ComponentType): ComponentType {
  const known = wrapped.get(Screen)
  if (known !== undefined) return known
  function InProject() {
    const { params } = useRoute()
    useEffect(() => {
      if (project.value !== undefined) rememberProject(project.value.id)
    }, [params.project])
    return project.value === undefined ? <NotFoundScreen /> : <Screen key={params.project} />
  }
  wrapped.set(Screen, InProject)
  return InProject
}

function Home() {
  const last = lastProject()
  if (last !== undefined) return <Leave to={outer(`/${last.id}`)} />
  return <Leave to={outer(isSetUpOpen() && isOperator.value ? '/setup' : '/projects/new')} />
}

function NotFoundScreen() {
  return (
    <Page title={t('state.notFound')} text={t('state.notFound.text')}>
      <div class="body">
        <WaysOut />
      </div>
    </Page>
  )
}

/** The sign-in leads back to where the person was going. */
function signInAddress(wanted: string): string {
  const isHome = wanted === outer('') || wanted === outer('/')
  return isHome ? outer('/login') : `${outer('/login')}?next=${encodeURIComponent(wanted)}`
}
