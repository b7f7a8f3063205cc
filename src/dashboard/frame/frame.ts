/**
 * The script of the mail frame. The parent alone may hand it a mail, as `{html}`; the frame then becomes that
 * mail and tells its height, as `{height}`. The frame's policy lets nothing in the mail run, load or lead away.
 */
addEventListener('message', ({ source, data }: MessageEvent<{ html?: unknown }>) => {
  if (source !== parent || typeof data?.html !== 'string') return
  const mail = new DOMParser().parseFromString(data.html, 'text/html')
  // A refresh of the mail would lead the frame away.
  for (const meta of mail.querySelectorAll('meta[http-equiv]')) meta.remove()
  document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement)
  const tell = () => {
    parent.postMessage({ height: document.documentElement.scrollHeight }, '*')
  }
  new ResizeObserver(tell).observe(document.documentElement)
  tell()
})
parent.postMessage({ ready: true }, '*')
