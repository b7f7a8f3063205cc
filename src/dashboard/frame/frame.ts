/**
 * The script of the mail frame. The parent alone may hand it a mail, as `{html, isDark}`; the frame then becomes
 * that mail and tells its height, as `{height}`. The frame's policy lets nothing in the mail run, load or lead away;
 * a link of the mail would still lead the frame itself to a page of this server, so links and forms do nothing.
 */
for (const type of ['click', 'auxclick', 'submit', 'dragstart']) {
  addEventListener(type, (event) => event.preventDefault(), true)
}
addEventListener(
  'message',
  ({ source, data }: MessageEvent<{ html?: unknown; isDark?: unknown }>) => {
    if (source !== parent || typeof data?.html !== 'string') return
    const mail = new DOMParser().parseFromString(data.html, 'text/html')
    // A refresh would lead the frame away. A link may connect to its host (`preconnect`), whatever the policy says.
    for (const element of mail.querySelectorAll('meta[http-equiv], link, base')) element.remove()
    document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement)
    applyScheme(data.isDark === true)
    const tell = () => {
      parent.postMessage({ height: document.documentElement.scrollHeight }, '*')
    }
    new ResizeObserver(tell).observe(document.documentElement)
    tell()
  },
)
parent.postMessage({ ready: true }, '*')

/** The mail follows the choice of the reader, and not the scheme of the system. */
function applyScheme(isDark: boolean): void {
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light'
  for (const sheet of document.styleSheets) {
    decide(sheet.media, isDark)
    for (const rule of sheet.cssRules) if (rule instanceof CSSMediaRule) decide(rule.media, isDark)
  }
}

/** Queries for a scheme become queries that always or never hold. */
function decide(media: MediaList, isDark: boolean): void {
  const query = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi
  media.mediaText = media.mediaText.replace(query, (_, scheme: string) =>
    (scheme.toLowerCase() === 'dark') === isDark ? '(min-width: 0)' : '(max-width: 0)',
  )
}
