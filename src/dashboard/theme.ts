/** Runs before the first paint, so that the page never shows the other scheme or density first. */
for (const name of ['theme', 'density']) {
  try {
    const value = localStorage.getItem(`pillarbox.${name}`)
    if (value !== null) document.documentElement.dataset[name] = value
  } catch {
    // Storage may be forbidden: the system's scheme stays.
  }
}
