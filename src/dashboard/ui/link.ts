/** Addresses of screens. */
import { base } from '../api/client.ts'
import { config, lastProject, project } from '../api/session.ts'

/**
 * `/emails` -> the address of that screen in the project that is shown, or else in the one that was shown last; `/`
 * is the overview.
 */
export function link(screen: string): string {
  const id = (project.value ?? lastProject())?.id
  if (id === undefined) return `${base}/app`
  return `${base}/app/${id}${screen === '/' ? '' : screen}`
}

/** The address of a screen outside of projects: `/me`, `/login`. */
export function outer(screen: string): string {
  return `${base}/app${screen}`
}

/** The name of the server, as its address has it. */
export function hostName(): string {
  return new URL(config.value?.urls.api ?? location.href).hostname
}
