/** The screens of a project in the order of the navigation. */

import type { TextKey } from '../text/text.ts'
import type { IconName } from './icon.tsx'

export type NavItem = {
  /** The path below the project. */
  screen: string
  label: TextKey
  icon: IconName
  /** The key after `g`. */
  key: string
}

type NavGroup = { label: TextKey | null; items: readonly NavItem[] }

export const NAVIGATION: readonly NavGroup[] = [
  { label: null, items: [{ screen: '/', label: 'nav.overview', icon: 'home', key: 'o' }] },
  {
    label: 'nav.trace',
    items: [
      { screen: '/emails', label: 'nav.emails', icon: 'mail', key: 'e' },
      { screen: '/activity', label: 'nav.activity', icon: 'pulse', key: 'y' },
    ],
  },
]

export const NAV_ITEMS: readonly NavItem[] = NAVIGATION.flatMap(({ items }) => items)

/** Whether the item leads to the screen at `path`, or to one above it. Both are paths below the project. */
export function isCurrent({ screen }: Pick<NavItem, 'screen'>, path: string): boolean {
  if (screen === '/') return path === '' || path === '/'
  return path === screen || path.startsWith(`${screen}/`)
}
