/** What the palette offers: pages and actions for a project, and the screens of things that were found. */
import { type Answer, base } from '../api/client.ts'
import { project, projects, signOut } from '../api/session.ts'
import { emailsPath } from '../logic/email-links.ts'
import type { PaletteEntry } from '../logic/palette.ts'
import { codeText, type TextKey, t } from '../text/text.ts'
import { DENSITIES, setDensity, setTheme, THEMES } from './appearance.ts'
import { link, outer } from './link.ts'
import { NAV_ITEMS } from './nav.ts'
import { showOnboarding } from './onboarding.ts'
import { toast } from './toast.tsx'

export type Entry = PaletteEntry & { run(): void }
export type Hit = Answer<'GET /search'>[number]

type Ways = { route(url: string): void; onKeys(): void }

export function listEntries({ route, onKeys }: Ways): Entry[] {
  const page = (id: string, label: TextKey, url: string): Entry => ({
    id,
    title: t(label),
    detail: t('palette.page'),
    run: () => route(url),
  })
  const action = (id: string, title: string, run: () => void): Entry => ({
    ...{ id, title, run },
    detail: t('palette.action'),
  })
  return [
    ...(project.value === undefined
      ? []
      : NAV_ITEMS.map(({ screen, label }) => page(`page${screen}`, label, link(screen)))),
    ...(project.value === undefined ? [] : [firstSteps(project.value.id, route)]),
    page('account', 'shell.account', outer('/me')),
    page('new-project', 'palette.newProject', outer('/projects/new')),
    ...projects.value
      .filter(({ id }) => id !== project.value?.id)
      .map(({ id, name }) =>
        action(`project/${id}`, t('palette.switch', { name }), () => route(`${base}/app/${id}`)),
      ),
    ...THEMES.map((name) =>
      action(`theme/${name}`, t('palette.theme', { name: t(`theme.${name}`) }), () =>
        setTheme(name),
      ),
    ),
    ...DENSITIES.map((name) =>
      action(`density/${name}`, t('palette.density', { name: t(`density.${name}`) }), () =>
        setDensity(name),
      ),
    ),
    action('keys', t('keys.title'), onKeys),
    action('sign-out', t('shell.signOut'), () => {
      // The palette is closed by then.
      signOut().catch(() => toast(t('shell.signOut.failed')))
    }),
  ]
}

export function suppressEntry(address: string, run: () => void): Entry {
  return {
    ...{ id: 'suppress', run },
    title: t('action.suppress.title', { to: address }),
    detail: t('palette.action'),
  }
}

function firstSteps(projectId: string, route: (url: string) => void): Entry {
  return {
    ...{ id: 'first-steps', title: t('palette.first'), detail: t('palette.action') },
    run: () => {
      showOnboarding(projectId)
      route(link('/'))
    },
  }
}

/** The screen of a thing; undefined for a kind that has none. A contact leads to the mail to its address. */
export function toEntry(
  { kind, id, title, detail }: Hit,
  route: (url: string) => void,
): Entry | undefined {
  const url = {
    email: link(`/emails/${id}`),
    contact: link(emailsPath({ q: title })),
  }[kind as string]
  if (url === undefined) return undefined
  const state = kind === 'contact' ? codeText('contact', detail ?? '') : undefined
  const words = [state ?? detail, t(`kind.${kind}`)].filter((one) => one !== null)
  return { id: `${kind}/${id}`, title, detail: words.join(' · '), run: () => route(url) }
}
