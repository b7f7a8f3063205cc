/** A browser: cookies by host, and redirects one by one. The host of `base_url` is the server under test. */

export type Visit = { status: number; location: URL | null; text: string; cookies: string[] }

export type Browser = {
  get(url: string, headers?: Record<string, string>): Promise<Visit>
  post(url: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Visit>
  /** The cookies for the server under test. */
  jar: Map<string, string>
}

/** `own`: where the host of `base_url` really is. */
export function createBrowser(baseUrl: string, own: string): Browser {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (origin: string) => {
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }

  async function visit(text: string, init: RequestInit): Promise<Visit> {
    const url = new URL(text, `${baseUrl}/`)
    const jar = jarOf(url.origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const isOwn = url.origin === new URL(baseUrl).origin
    const target = isOwn ? own + url.pathname + url.search : url.href
    const response = await fetch(target, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    })
    const cookies = response.headers.getSetCookie()
    for (const line of cookies) keep(jar, line)
    const location = response.headers.get('location')
    return {
      status: response.status,
      location: location === null ? null : new URL(location, url),
      text: await response.text(),
      cookies,
    }
  }

  return {
    get: (url, headers = {}) => visit(url, { headers }),
    post: (url, form = {}, headers = {}) =>
      visit(url, { method: 'POST', headers, body: new URLSearchParams(form) }),
    jar: jarOf(new URL(baseUrl).origin),
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const [name = '', value = ''] = pair.split(/=(.*)/s)
  const isGone = attributes.some((attribute) => {
    const [key = '', text = ''] = attribute.toLowerCase().split(/=(.*)/s)
    if (key === 'max-age') return Number(text) <= 0
    return key === 'expires' && Date.parse(text) <= Date.now()
  })
  if (isGone) jar.delete(name)
  else jar.set(name, value)
}
