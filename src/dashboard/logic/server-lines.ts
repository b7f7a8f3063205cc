/** What the set-up of a server shows to copy: the lines of `pillarbox.toml` whose change needs a restart. */

export type DeliveryMode = 'sandbox' | 'direct' | 'relay'

/** `relay`: of the mode `relay`. */
export type ServerSettings = {
  baseUrl: string
  hostname: string
  mode: DeliveryMode
  relay?: { host: string; port: string; username: string }
}

/**
 * The lines for the settings that differ from the running ones; an empty text if none does. A password is never
 * asked for, so its line stands there as a comment.
 */
export function formatServerLines(wanted: ServerSettings, running: ServerSettings): string {
  const top = wanted.baseUrl === running.baseUrl ? [] : [assign('base_url', wanted.baseUrl)]
  const delivery = [
    ...(wanted.mode === running.mode ? [] : [assign('mode', wanted.mode)]),
    ...(wanted.hostname === running.hostname ? [] : [assign('hostname', wanted.hostname)]),
  ]
  const relay = wanted.mode === 'relay' && running.mode !== 'relay' ? relayLines(wanted) : []
  return [top, section('delivery', delivery), section('delivery.relay', relay)]
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')
}

function relayLines({ relay }: ServerSettings): string[] {
  const { host = '', port = '', username = '' } = relay ?? {}
  return [
    assign('host', host),
    ...(/^\d+$/.test(port) ? [`port = ${Number(port)}`] : []),
    ...(username === '' ? [] : [assign('username', username), '# password = "…"']),
  ]
}

function section(name: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`[${name}]`, ...lines]
}

/** A text of JSON is a basic string of TOML, but for the character DEL. */
function assign(key: string, value: string): string {
  return `${key} = ${JSON.stringify(value).replaceAll('\u007f', '\\u007f')}`
}
