import type { Config } from '../../config/config.ts'

/**
 * Returns the path that browsers see. `base_url` may have a path of its own, which a proxy removes
 * from requests.
 */
export function ownPath({ baseUrl }: Pick<Config, 'baseUrl'>, path: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '') + path
}
