// Runs before anything is shown, so that a chosen theme does not flash. Without a choice, the system's theme applies.
"use strict";
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // storage is forbidden: then the choice lasts as long as the page
}
