/** The frame of all screens of a project: navigation on paper, the work on one sheet. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { base } from '../api/client.ts'
import {
  config,
  isSignedOut,
  lastProject,
  lostProject,
  project,
  projects,
  resetting,
  user,
} from '../api/session.ts'
import { codeText, t } from '../text/text.ts'
import { ServerBanners } from './banners.tsx'
import { Dialog } from './dialog.tsx'
import { Icon, Mark } from './icon.tsx'
import { useKeys } from './keys.ts'
import { lazy } from './lazy.tsx'
import { hostName, link, outer } from './link.ts'
import { isCurrent, NAV_ITEMS, NAVIGATION, type NavItem } from './nav.ts'
import { SignOut } from './sign-out.tsx'
import { Suspense } from './suspense.tsx'
import { Toasts } from './toast.tsx'
import { Tray } from './tray.tsx'

const Palette = lazy(() => import('./palette.tsx'))
const KeyList = lazy(() => import('./key-list.tsx'))
const Resetting = lazy(() => import('./resetting.tsx'))
const SignInDialog = lazy(() => import('../screens/login/sign-in-dialog.tsx'))

const PALETTE_KEY = /Mac|iPhone/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

/** The screens of the bar at the thumb, besides *More*. */
const SHORT = ['/', '/emails', '/activity']
/** A longer list of projects has a field that searches it. */
const FILTERED_ABOVE = 7

type Open = 'palette' | 'keys' | 'menu' | undefined

export function Shell({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState<Open>()
  const { route } = useLocation()
  const close = () => setOpen(undefined)
  useKeys(
    [
      { key: 'mod+k', label: t('keys.palette'), run: () => setOpen('palette'), isGlobal: true },
      { key: '?', label: t('keys.help'), run: () => setOpen('keys'), isGlobal: true },
      ...NAV_ITEMS.map(({ key, label, screen }) => ({
        key: `g ${key}`,
        label: t('keys.go', { page: t(label) }),
        run: () => route(link(screen)),
        isGlobal: true,
      })),
    ],
    [project.value?.id],
  )
  return (
    <>
      <a class="skip" href="#main">
        {t('shell.skip')}
      </a>
      <header class="top">
        <Mark />
        <b class="grow cut">{project.value?.name}</b>
        <button
          class="btn quiet icon"
          type="button"
          aria-label={t('shell.search')}
          onClick={() => setOpen('palette')}
        >
          <Icon name="search" />
        </button>
      </header>
      <div class="app">
        <header class="side">
          <Switcher />
          <button
            class="jump"
            type="button"
            title={`${t('shell.search')} (${PALETTE_KEY})`}
            onClick={() => setOpen('palette')}
          >
            <Icon name="search" />
            <span>{t('shell.search')}</span>
            <kbd>{PALETTE_KEY}</kbd>
          </button>
          <Navigation />
          <AccountLinks />
        </header>
        <main class="sheet" id="main">
          <Banners />
          {project.value !== undefined && resetting.value === project.value.id ? (
            <Suspense>
              <Resetting id={project.value.id} />
            </Suspense>
          ) : (
            children
          )}
        </main>
      </div>
      <nav class="thumb" aria-label={t('shell.short')}>
        {NAV_ITEMS.filter(({ screen }) => SHORT.includes(screen)).map((item) => (
          <NavLink key={item.screen} item={item} />
        ))}
        <button type="button" onClick={() => setOpen('menu')}>
          <Icon name="menu" />
          {t('shell.more')}
        </button>
      </nav>
      <Toasts />
      <Suspense>
        {project.value !== undefined && <Tray key={project.value.id} project={project.value.id} />}
        {open === 'palette' && <Palette onClose={close} onKeys={() => setOpen('keys')} />}
        {open === 'keys' && <KeyList onClose={close} />}
        {isSignedOut.value && <SignInDialog />}
      </Suspense>
      {open === 'menu' && (
        <Dialog title={t('shell.more')} onClose={close} class="menu">
          {/* A link closes the menu and leads away. */}
          {/* biome-ignore lint/a11y/noStaticElementInteractions: the links inside take the keys. */}
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys. */}
          <div onClick={(event) => (event.target as Element).closest('a') !== null && close()}>
            <Switcher />
            <Navigation />
            <AccountLinks />
          </div>
        </Dialog>
      )}
    </>
  )
}

function Navigation() {
  return (
    <nav class="nav grow" aria-label={t('shell.main')}>
      {NAVIGATION.map(({ label, items }) => (
        <div key={label}>
          {label !== null && <h2>{t(label)}</h2>}
          {items.map((item) => (
            <NavLink key={item.screen} item={item} />
          ))}
        </div>
      ))}
    </nav>
  )
}

function NavLink({ item }: { item: NavItem }) {
  const { path } = useLocation()
  const below = path.slice(`${base}/app/${project.value?.id ?? ''}`.length)
  return (
    <a href={link(item.screen)} aria-current={isCurrent(item, below) ? 'page' : undefined}>
      <Icon name={item.icon} />
      {t(item.label)}
    </a>
  )
}

function AccountLinks() {
  const { path } = useLocation()
  return (
    <nav class="nav" aria-label={t('shell.account')}>
      <a href={outer('/me')} aria-current={path === outer('/me') ? 'page' : undefined}>
        <Icon name="team" />
        <span class="cut">{user.value?.email}</span>
      </a>
      <a href={`${base}/docs/guide/dashboard`}>
        <Icon name="book" />
        {t('shell.guide')}
      </a>
      <SignOut>
        <Icon name="out" />
      </SignOut>
    </nav>
  )
}

function Switcher() {
  const [search, setSearch] = useState('')
  const shown = projects.value.filter(({ name }) =>
    name.toLowerCase().includes(search.toLowerCase()),
  )
  const isSandbox = config.value?.environment === 'sandbox'
  return (
    <details class="switcher">
      <summary class="switch" title={t('shell.switch')}>
        <Mark />
        <span class="grow">
          <b class="cut">{(project.value ?? lastProject())?.name ?? 'Pillarbox'}</b>
          <small>{isSandbox ? t('shell.sandbox') : hostName()}</small>
        </span>
        <Icon name="down" />
      </summary>
      <div class="options">
        {projects.value.length > FILTERED_ABOVE && (
          <input
            class="input"
            type="search"
            aria-label={t('shell.switch.filter')}
            value={search}
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
        )}
        {shown.map(({ id, name }) => (
          <a
            key={id}
            href={`${base}/app/${id}`}
            aria-current={id === project.value?.id ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </div>
    </details>
  )
}

function Banners() {
  const { disabled, disabledReason } = project.value ?? {}
  return (
    <div aria-live="polite">
      <ServerBanners />
      {lostProject.value !== undefined && (
        <p class="note bad banner">{codeText('failed', 'PROJECT_ACCESS_DENIED')}</p>
      )}
      {disabled === true && (
        <p class="note bad banner">
          {t('shell.disabled', { reason: disabledText(disabledReason ?? '') })}
        </p>
      )}
    </div>
  )
}

function disabledText(reason: string): string {
  return codeText('disabled', reason) ?? reason
}
