/** Which screen an address shows. */

import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { LocationProvider, Route, Router, useLocation, useRoute } from 'preact-iso/router'
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
import { isSetUpOpen } from './screens/setup/progress.ts'
import { t } from './text/text.ts'
import { lazy } from './ui/lazy.tsx'
import { Leave } from './ui/leave.tsx'
import { link, outer } from './ui/link.ts'
import { Page } from './ui/page.tsx'
import { Shell } from './ui/shell.tsx'
import { Failed, Loading } from './ui/state.tsx'
import { Suspense } from './ui/suspense.tsx'

const Overview = lazy(() => import('./screens/overview/overview.tsx'))
const Emails = lazy(() => import('./screens/emails/emails.tsx'))
const Email = lazy(() => import('./screens/email/email.tsx'))
const Activity = lazy(() => import('./screens/activity/activity.tsx'))
const Account = lazy(() => import('./screens/me/account.tsx'))
const Login = lazy(() => import('./screens/login/login.tsx'))
const SignUp = lazy(() => import('./screens/signup/sign-up.tsx'))
const Forgot = lazy(() => import('./screens/forgot/forgot.tsx'))
const Unverified = lazy(() => import('./screens/signup/unverified.tsx'))
const SignInDialog = lazy(() => import('./screens/login/sign-in-dialog.tsx'))
const SetUp = lazy(() => import('./screens/setup/set-up.tsx'))
const NewProject = lazy(() => import('./screens/projects/new-project.tsx'))

/** Screens without a session. */
const DOORS: Readonly<Record<string, ComponentType>> = {
  '/login': Login,
  '/signup': SignUp,
  '/forgot': Forgot,
  '/setup': SetUp,
}

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
      <Suspense>
        <Door />
        {isSignedOut.value && <SignInDialog />}
      </Suspense>
    )
  if (user.value === undefined) return <Leave to={signInAddress(location.url)} />
  if (isUnverified.value)
    return (
      <Suspense>
        <Unverified />
      </Suspense>
    )
  return (
    <Shell>
      <Suspense>
        <Router onRouteChange={() => window.scrollTo(0, 0)}>
          <Route path={outer('/')} component={Home} />
          <Route path={outer('/me')} component={Account} />
          <Route path={outer('/projects/new')} component={NewProject} />
          <Route path={outer('/:project')} component={inProject(Overview)} />
          <Route path={outer('/:project/emails')} component={inProject(Emails)} />
          <Route path={outer('/:project/emails/:id')} component={inProject(Email)} />
          <Route path={outer('/:project/activity')} component={inProject(Activity)} />
          <Route default component={NotFoundScreen} />
        </Router>
      </Suspense>
    </Shell>
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
      <p class="body">
        <a class="btn" href={link('/')}>
          {t('state.home')}
        </a>
      </p>
    </Page>
  )
}

/** The sign-in leads back to where the person was going. */
function signInAddress(wanted: string): string {
  const isHome = wanted === outer('') || wanted === outer('/')
  return isHome ? outer('/login') : `${outer('/login')}?next=${encodeURIComponent(wanted)}`
}
