// Runs before the page is shown, so that the wrong theme does not flash. Without a choice, the system's theme applies.
"use strict";
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // storage is blocked: the choice lasts until the page is closed
}
