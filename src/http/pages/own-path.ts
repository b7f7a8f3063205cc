import type { Config } from '../../config/config.ts'

/** The path that browsers see; `base_url` may have a path of its own, which a proxy takes off. */
export function ownPath({ baseUrl }: Pick<Config, 'baseUrl'>, path: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '') + path
}
